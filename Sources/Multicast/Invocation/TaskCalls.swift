// Which entry each task is calling at this moment.
//
// The counterpart of `ThreadCallStack` for calls that may suspend and go on on another thread. An
// invocation takes a *call* from the pool of its hub, and each child of a concurrent invocation
// gets one of its own. Whoever calls an entry stores the entry's address in its call and then looks
// whether the entry is still active; `cancelAndWait` first makes the entry inactive and then looks
// through all calls of the hub. The barriers between are those of `ThreadCallStack`, and so is the
// argument: at least one of the two sees the other.
//
// A call also says which task is inside, so that `cancelAndWait` knows when it would wait for
// itself, and a serialized hub when it would wait for its own turn. No task-local says so: a task
// that a callback merely starts inherits those, but nobody waits for it. In a serialized hub an
// `InvocationScope` says so for the structured children of a callback too.
//
//     pool ──▶ block ──▶ block        a block is twice as large as the one before, and lives as
//               │ calls   │ calls     long as the pool; free calls are linked

public import CMulticast
public import Synchronization

/// One call after the other, by one task.
///
/// ## Thread safety
/// `next` belongs to the pool. Everything else is atomic, and written by one task at a time.
// `task` and `parent` are stored and loaded relaxed: a task looks for itself, or for one that waits
// for it. What that one has stored was there before the task began.
@usableFromInline
struct TaskCall: ~Copyable {
  @usableFromInline typealias Pointer = UnsafeMutablePointer<TaskCall>

  /// The address of the entry that is being called, or `nil`.
  @usableFromInline let entry = Atomic<UnsafeRawPointer?>(nil)
  /// The task that calls.
  @usableFromInline let task = Atomic<TaskIdentity>(.none)
  /// The task that waits for it inside a concurrent invocation; `none` if the invocation itself
  /// calls.
  @usableFromInline let parent = Atomic<TaskIdentity>(.none)
  fileprivate var next: Pointer?
}

/// The calls of one hub.
///
/// ## Thread safety
/// Taking a call and giving it back is for the actor whose pool it is. Looking is for any thread.
@usableFromInline
final class TaskCalls: CallTracking, @unchecked Sendable {
  // Sendable: `free` is touched on the actor alone; blocks are published by an atomic, and never
  // freed before the pool is.

  private struct Block: ~Copyable {
    let calls: TaskCall.Pointer
    let capacity: Int
    let next: UnsafeMutablePointer<Block>?
  }

  private let blocks = Atomic<UnsafeMutablePointer<Block>?>(nil)
  private var free: TaskCall.Pointer?
  @usableFromInline let lightBarrierIsFence: Bool

  init() {
    cmulticast_barrier_prepare()
    lightBarrierIsFence = cmulticast_light_barrier_must_fence()
  }

  deinit {
    // Acquiring: the blocks with their contents.
    var candidate = blocks.load(ordering: .acquiring)
    while let block = candidate {
      candidate = block.pointee.next
      block.pointee.calls.deinitialize(count: block.pointee.capacity)
      block.pointee.calls.deallocate()
      block.deinitialize(count: 1)
      block.deallocate()
    }
  }
}

// MARK: - On the actor

extension TaskCalls {
  /// A call for the current task.
  @usableFromInline
  func take() -> TaskCall.Pointer {
    let call = takeFree()
    call.pointee.task.store(.current, ordering: .relaxed)
    return call
  }

  /// A call for a child of `parent`, which will say itself which task it is.
  @usableFromInline
  func take(parent: TaskIdentity) -> TaskCall.Pointer {
    let call = takeFree()
    call.pointee.parent.store(parent, ordering: .relaxed)
    return call
  }

  /// Ends a call.
  @usableFromInline
  func release(_ call: TaskCall.Pointer) {
    call.pointee.end()
    call.pointee.parent.store(.none, ordering: .relaxed)
    call.pointee.next = free
    free = call
  }

  private func takeFree() -> TaskCall.Pointer {
    guard let call = free else { return grow() }
    free = call.pointee.next
    return call
  }

  private func grow() -> TaskCall.Pointer {
    let newest = blocks.load(ordering: .relaxed)  // Relaxed: only the actor changes it.
    let capacity = newest.map { $0.pointee.capacity * 2 } ?? 4
    // SAFETY: freed by `deinit`, and by nobody else.
    let calls = TaskCall.Pointer.allocate(capacity: capacity)
    for index in 0..<capacity {
      (calls + index).initialize(to: TaskCall(next: index > 1 ? calls + (index - 1) : nil))
    }
    let block = UnsafeMutablePointer<Block>.allocate(capacity: 1)
    block.initialize(to: Block(calls: calls, capacity: capacity, next: newest))
    // Releasing: publishes the contents.
    blocks.store(block, ordering: .releasing)
    free = calls + (capacity - 1)
    return calls
  }
}

extension TaskCall {
  /// Says that `entry` is about to be called, and whether it may be.
  @inlinable @inline(__always)
  borrowing func begin(_ entry: Unmanaged<Entry>, lightBarrierIsFence: Bool) -> Bool {
    // Releasing: what the last callback did happened before a waiter finds another entry here.
    self.entry.store(UnsafeRawPointer(entry.toOpaque()), ordering: .releasing)
    cmulticast_barrier_light(lightBarrierIsFence)
    // Acquiring: pairs with whoever removed the entry.
    return EntryHead.isActive(entry.head.pointee.state.load(ordering: .acquiring))
  }

  /// Says that nothing is being called any more.
  @inlinable @inline(__always)
  borrowing func end() {
    // Releasing: what the callbacks did happened before a waiter finds the call empty.
    entry.store(nil, ordering: .releasing)
    task.store(.none, ordering: .relaxed)
  }
}

// MARK: - From any thread

extension TaskCalls {
  /// Whether any task is calling `entry`.
  ///
  /// - Complexity: O(calls that were ever in progress at once).
  func isCalled(_ entry: UnsafeRawPointer) -> Bool {
    // Acquiring: what the callback did happened before this, if its call is empty.
    contains { $0.pointee.entry.load(ordering: .acquiring) == entry }
  }

  /// Whether `entry` is being called by the current task, or by one that waits for it in a
  /// concurrent invocation.
  ///
  /// Those tasks cannot go on before the current one does, so the answer stays true.
  func isCalledByCurrentTask(_ entry: UnsafeRawPointer) -> Bool {
    InvocationScope.currentBelongs(to: self, calling: entry)
      || TaskIdentity.anyWaitingForCurrent { task in
        contains {
          // Relaxed: as `task`, by the same one.
          $0.pointee.entry.load(ordering: .relaxed) == entry
            && $0.pointee.task.load(ordering: .relaxed) == task
        }
      }
  }

  /// Whether `task` is a child that calls for the concurrent invocation of `parent`.
  func isChild(_ task: TaskIdentity, of parent: TaskIdentity) -> Bool {
    contains {
      $0.pointee.task.load(ordering: .relaxed) == task
        && $0.pointee.parent.load(ordering: .relaxed) == parent
    }
  }

  private func contains(_ isMatch: (TaskCall.Pointer) -> Bool) -> Bool {
    // Acquiring: the blocks with their contents.
    var candidate = blocks.load(ordering: .acquiring)
    while let block = candidate {
      for index in 0..<block.pointee.capacity where isMatch(block.pointee.calls + index) {
        return true
      }
      candidate = block.pointee.next
    }
    return false
  }
}
