// One invocation on one thread: it calls entries, and shows other threads which one it is calling.

public import CMulticast
public import Synchronization

/// One of the passes of an invocation over the same entries.
@usableFromInline
struct Pass {
  /// From zero.
  @usableFromInline let index: Int
  @usableFromInline let count: Int

  @inlinable @inline(__always)
  init(_ index: Int, of count: Int) {
    self.index = index
    self.count = count
  }
}

/// One invocation on one thread.
@usableFromInline
struct Invocation {
  @usableFromInline let thread: ThreadCallStack.Pointer
  /// Shows other threads which entry this invocation is calling; see `ThreadCallStack`.
  @usableFromInline let frame: UnsafeMutablePointer<ThreadCallStack.Frame>
  @usableFromInline let lightBarrierIsFence: Bool
  @usableFromInline var sawDead = false

  @inlinable @inline(__always)
  init(_ thread: ThreadCallStack.Pointer) {
    self.thread = thread
    // SAFETY: `ThreadCallStack.current` has a free frame, and only this thread uses its frames.
    frame = thread.pointee.top
    thread.pointee.top = frame + 1
    thread.pointee.invocationTally = 0
    lightBarrierIsFence = cmulticast_light_barrier_must_fence()
  }

  /// Closes the frame.
  @inlinable @inline(__always)
  func end() {
    // Releasing: what the callbacks did happened before a waiter finds the frame empty.
    frame.pointee.store(nil, ordering: .releasing)
    thread.pointee.top = frame
  }

  /// Passes the value of `entry` to `body` if the entry is still active and its target alive.
  ///
  /// - Returns: whether to continue.
  @inlinable @inline(__always)
  mutating func pass<Value, E>(
    _ entry: Unmanaged<Entry>, to body: (Value) throws(E) -> Bool
  ) throws(E) -> Bool {
    try pass(entry, otherwise: true) { (head: UnsafeMutablePointer<EntryHead>) throws(E) in
      try Entry.value(head, as: Value.self).pointee.pass(to: body)
    }
  }

  /// Runs `body` if `entry` is still active and its target alive, and keeps the target until `body`
  /// returns.
  ///
  /// - Returns: the result of `body`, or `skipped` if it was not run.
  @inlinable @inline(__always)
  mutating func pass<R, E>(
    _ entry: Unmanaged<Entry>, otherwise skipped: R,
    _ body: (UnsafeMutablePointer<EntryHead>) throws(E) -> R
  ) throws(E) -> R {
    let head = entry.head
    // Releasing: what the last callback did happened before a waiter finds another entry here.
    frame.pointee.store(UnsafeRawPointer(entry.toOpaque()), ordering: .releasing)
    cmulticast_barrier_light(lightBarrierIsFence)
    // Acquiring: pairs with the thread that removed the entry.
    let state = head.pointee.state.load(ordering: .acquiring)
    perturb()
    if _fastPath(state == EntryHead.activeStrong) { return try body(head) }
    guard state == EntryHead.activeWeak else { return skipped }
    guard let target = WeakReference(word: head.pointee.target).promote() else {
      sawDead = true
      return skipped
    }
    // If this is the last release, the delegate's `deinit` runs here, outside of any lock.
    defer { target.release() }
    return try body(head)
  }

  /// Puts `call` into the mailbox of `entry` if the entry is still active and its target alive.
  ///
  /// The delivery checks again whether the target is alive.
  ///
  /// - Returns: whether it was enqueued.
  @usableFromInline
  mutating func enqueue(
    _ call: Envelope, for entry: Unmanaged<Entry>, in mailbox: Unmanaged<Mailbox>
  ) -> Bool {
    let head = entry.head
    // Releasing: as in `pass`. The last callback is over; a thread that waits for it must not wait
    // for this.
    frame.pointee.store(nil, ordering: .releasing)
    let state = head.pointee.state.load(ordering: .acquiring)  // As in `pass`.
    guard EntryHead.isActive(state) else { return false }
    if state == EntryHead.activeWeak && WeakReference(word: head.pointee.target).isDead {
      sawDead = true
      return false
    }
    // SAFETY: the read section or the snapshot holds the entry, which owns the mailbox.
    return mailbox._withUnsafeGuaranteedRef { $0.enqueue(call, for: entry) }
  }
}
