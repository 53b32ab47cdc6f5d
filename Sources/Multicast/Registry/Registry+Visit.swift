// The hot path: calling every entry that is registered now. It is inlinable, so that it is specialised
// with the user's types and the closure in the user's module.

public import CMulticast
public import Synchronization

extension Registry {
  /// Passes the value of each live entry to `body`, in order, until it returns `false`.
  ///
  /// The entries are those that were registered at the beginning, less those that are removed before
  /// their turn. No lock is held while `body` runs. A weak target is retained for exactly its call.
  @inlinable
  func visit<Value, E>(
    _: Value.Type, _ body: (Value) throws(E) -> Bool
  ) throws(E) {
    var visit = Visit(ThreadRecord.current)
    if let published {
      let ticket = published.reclaimer.readers.enter(visit.thread)
      defer {
        visit.end()
        published.reclaimer.leave(ticket)
        if visit.sawDead { pruneAfterVisit() }
      }
      // Sequentially consistent, acquiring: see `PublishedSlots`.
      let list = SlotList(published.current.load(ordering: .sequentiallyConsistent))
      let slots = list.slots
      visit.count = list.header.pointee.count.load(ordering: .acquiring)
      for slot in 0..<visit.count {
        guard let entry = slots[slot].load(ordering: .sequentiallyConsistent) else { continue }
        guard try visit.pass(entry, to: body) else { return }
      }
    } else {
      let entries = snapshot()
      defer {
        visit.end()
        if visit.sawDead { pruneAfterVisit() }
      }
      visit.count = entries.count
      for entry in entries {
        guard let entry else { continue }
        guard try visit.pass(.passUnretained(entry), to: body) else { return }
      }
    }
  }
}

/// One invocation on one thread.
@usableFromInline
struct Visit {
  @usableFromInline let thread: ThreadRecord.Pointer
  /// Where other threads see what this invocation is calling; see `ThreadRecord`.
  @usableFromInline let frame: UnsafeMutablePointer<ThreadRecord.Frame>
  @usableFromInline let lightBarrierIsFence: Bool
  /// How many places the invocation looks at.
  @usableFromInline var count = 0
  @usableFromInline var sawDead = false

  @inlinable @inline(__always)
  init(_ thread: ThreadRecord.Pointer) {
    self.thread = thread
    // SAFETY: `ThreadRecord.current` has a free frame, and only this thread opens frames in it.
    frame = thread.pointee.frames + thread.pointee.depth
    thread.pointee.depth &+= 1
    lightBarrierIsFence = cmulticast_light_barrier_must_fence()
  }

  /// Closes the frame.
  @inlinable @inline(__always)
  func end() {
    // Releasing: what the callbacks did happened before a waiter finds the frame empty.
    frame.pointee.store(nil, ordering: .releasing)
    thread.pointee.depth &-= 1
  }

  /// Passes the value of `entry` to `body` if the entry is still active and its target alive.
  ///
  /// - Returns: whether to go on.
  @inlinable @inline(__always)
  mutating func pass<Value, E>(
    _ entry: Unmanaged<Entry>, to body: (Value) throws(E) -> Bool
  ) throws(E) -> Bool {
    let head = entry.head
    // Releasing: what the last callback did happened before a waiter finds another entry here.
    frame.pointee.store(UnsafeRawPointer(entry.toOpaque()), ordering: .releasing)
    cmulticast_barrier_light(lightBarrierIsFence)
    // Acquiring: pairs with `supersede`, and with whoever removed the entry.
    let state = head.pointee.state.load(ordering: .acquiring)
    guard state == EntryHead.active || isDue(head, state) else { return true }
    let value = Entry.value(head, as: Value.self)
    guard head.pointee.isWeak else { return try value.pointee.pass(to: body) }
    guard let target = WeakReference(word: head.pointee.target).promote() else {
      sawDead = true
      return true
    }
    // This may be the last release: then the delegate's `deinit` runs here, outside of any lock.
    defer { target.release() }
    return try value.pointee.pass(to: body)
  }

  /// Whether an entry that is not active is to be called all the same: if another one takes its
  /// place, but behind what this invocation looks at.
  @usableFromInline @inline(never)
  func isDue(_ head: UnsafeMutablePointer<EntryHead>, _ state: UInt8) -> Bool {
    state == EntryHead.superseded && Int(head.pointee.slot) >= count
  }
}
