// Which entry each task is calling.
//
// The counterpart of `ThreadCallStack` for calls that may suspend and resume on another thread. An
// invocation takes a *call* from the pool of its hub, and each child of a concurrent invocation
// has one of its own. A task stores the address of an entry in its call, and then checks that the
// entry is active; `cancelAndWait` makes the entry inactive, and then reads all calls of the hub.
// The barriers between are those of `ThreadCallStack`, and so is the argument: at least one of the
// two sees the other.
//
// A call also names its task, so that `cancelAndWait` does not wait for its own task, nor an
// invocation of a serialized hub for the invocation that it belongs to. A task-local cannot tell,
// because unstructured tasks of a callback inherit it although no invocation waits for them. In a
// serialized hub an `InvocationScope` covers the structured children of a callback as well.
//
//     pool ──▶ block ──▶ block        each block is twice as large as the one before, and lives
//               │ calls   │ calls     as long as the pool; free calls are linked

public import CMulticast
public import Synchronization

/// The current call of one task.
///
/// ## Thread safety
/// `next` belongs to the pool. The rest is atomic, and written by one task at a time.
// `task` and `parent` are relaxed: a task searches for itself, or for one that waits for it and has
// stored its values before this task began.
@usableFromInline
struct TaskCall: ~Copyable {
  @usableFromInline typealias Pointer = UnsafeMutablePointer<TaskCall>

  /// The address of the entry that is being called, or `nil`.
  @usableFromInline let entry = Atomic<UnsafeRawPointer?>(nil)
  /// The calling task.
  @usableFromInline let task = Atomic<TaskIdentity>(.none)
  /// The task that waits for `task` in a concurrent invocation; `none` in any other invocation.
  @usableFromInline let parent = Atomic<TaskIdentity>(.none)
  fileprivate var next: Pointer?
}

/// The calls of one hub, in a pool.
///
/// ## Thread safety
/// Only the actor that owns the pool may take and release calls. Any thread may search them.
@usableFromInline
final class TaskCalls: CallTracking, @unchecked Sendable {
  // Sendable: `free` is used only on the actor; blocks are published by an atomic, and freed with
  // the pool.

  private struct Block: ~Copyable {
    let calls: TaskCall.Pointer
    let capacity: Int
    let next: UnsafeMutablePointer<Block>?
  }

  private let blocks = Atomic<UnsafeMutablePointer<Block>?>(nil)
  private var free: TaskCall.Pointer?
  @usableFromInline let lightBarrierIsFence: Bool

  override init() {
    cmulticast_barrier_prepare()
    lightBarrierIsFence = cmulticast_light_barrier_must_fence()
  }

  deinit {
    // Relaxed would be enough: the runtime orders a `deinit` after every use of the object.
    // Acquiring, because it is loaded once: the blocks with their contents.
    var candidate = blocks.load(ordering: .acquiring)
    while let block = candidate {
      candidate = block.pointee.next
      block.pointee.calls.deinitialize(count: block.pointee.capacity)
      block.pointee.calls.deallocate()
      block.deinitialize(count: 1)
      block.deallocate()
    }
  }

  /// Whether any task is calling `entry`.
  ///
  /// - Complexity: O(calls that ever ran concurrently).
  override func isCalled(_ entry: UnsafeRawPointer) -> Bool {
    // Acquiring: what the callback did happened before this, if its call is empty.
    contains { $0.pointee.entry.load(ordering: .acquiring) == entry }
  }

  /// Whether the current task, or one that waits for it, is calling `entry`.
  ///
  /// Such a task waits until the current one ends, so the answer stays true.
  override func isCalledByCurrentTask(_ entry: UnsafeRawPointer) -> Bool {
    InvocationScope.currentBelongs(to: self, calling: entry)
      || TaskIdentity.anyWaitingForCurrent { task in
        contains {
          // Relaxed: stored by the same task as `task`.
          $0.pointee.entry.load(ordering: .relaxed) == entry
            && $0.pointee.task.load(ordering: .relaxed) == task
        }
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

  /// A call for a child of `parent`, which stores its own task.
  @usableFromInline
  func take(parent: TaskIdentity) -> TaskCall.Pointer {
    let call = takeFree()
    call.pointee.parent.store(parent, ordering: .relaxed)
    return call
  }

  /// Ends a call, and returns it to the pool.
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
    // SAFETY: only `deinit` frees it.
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
  /// Begins a call of `entry`.
  ///
  /// - Returns: whether it may be called.
  @inlinable @inline(__always)
  borrowing func begin(_ entry: Unmanaged<Entry>, lightBarrierIsFence: Bool) -> Bool {
    // Releasing: what the last callback did happened before a waiter finds another entry here.
    self.entry.store(UnsafeRawPointer(entry.toOpaque()), ordering: .releasing)
    cmulticast_barrier_light(lightBarrierIsFence)
    // Acquiring: pairs with the thread that removed the entry.
    return EntryHead.isCallable(entry.head.pointee.state.load(ordering: .acquiring))
  }

  /// Ends the current call.
  @inlinable @inline(__always)
  borrowing func end() {
    // Releasing: what the callbacks did happened before a waiter finds the call empty.
    entry.store(nil, ordering: .releasing)
    task.store(.none, ordering: .relaxed)
  }
}

// MARK: - From any thread

extension TaskCalls {
  /// Whether `task` is a child of a concurrent invocation by `parent`.
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
