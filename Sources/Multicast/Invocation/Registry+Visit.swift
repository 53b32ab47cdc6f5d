// The hot path: calling every entry that is registered now. It is inlinable, so that it is
// specialised with the user's types and the closure in the user's module.

public import CMulticast
public import Synchronization

extension Registry {
  /// Passes the value of each live entry to `body`, in order, until it returns `false`.
  ///
  /// The entries are those that were registered at the beginning, less those that are removed
  /// before their turn. No lock is held while `body` runs. A weak target is retained for exactly
  /// its call.
  @inlinable
  func visit<Value, E>(
    _: Value.Type, _ body: (Value) throws(E) -> Bool
  ) throws(E) {
    try visitEntries { (visit: inout Visit, entry: Unmanaged<Entry>, _: Pass) throws(E) -> Bool in
      try visit.pass(entry, to: body)
    }
  }

  /// Delivers to each live entry in the entry's own context.
  ///
  /// - Parameters:
  ///   - here: what to do with a value now, if its entry has no mailbox. Returns whether that
  ///     counts.
  ///   - later: what to do with it when its turn has come, if it has one.
  /// - Returns: how many were enqueued, or called so that it counts.
  @inlinable @inline(__always)
  func deliver<Value>(
    here: (Value) -> Bool, later: @escaping @Sendable (Value) -> Void
  ) -> Int {
    var delivered = 0
    var call: Parcel?
    visitEntries { visit, entry, _ in
      if let mailbox = entry.head.pointee.mailbox {
        if call == nil { call = Parcel(call: later) }
        if visit.enqueue(call!, for: entry, in: mailbox) { delivered += 1 }
        return true
      }
      return visit.pass(entry) { (value: Value) -> Bool in
        if here(value) { delivered += 1 }
        return true
      }
    }
    return delivered
  }

  /// Runs `step` for each entry, in order, until it returns `false`; in each pass for the same
  /// entries.
  ///
  /// - Parameters:
  ///   - passes: the number of passes. Read when the entries are known.
  ///   - step: what to do with an entry.
  @inlinable @inline(__always)
  func visitEntries<E>(
    passes: @autoclosure () -> Int = 1,
    _ step: (inout Visit, Unmanaged<Entry>, Pass) throws(E) -> Bool
  ) throws(E) {
    var visit = Visit(ThreadRecord.current)
    defer { if visit.sawDead { pruneAfterVisit() } }
    if let published {
      defer { withExtendedLifetime(self) {} }
      // SAFETY: the storage keeps the slots, the registry keeps the storage, and the caller the
      // registry.
      try published.read(visit.thread) { (entries: PublishedEntries) throws(E) in
        // Before the read section ends, which may destroy what the invocation held up.
        defer { visit.end() }
        let passes = passes()
        for pass in 0..<passes {
          let goesOn = try entries.forEach { (entry: Unmanaged<Entry>) throws(E) -> Bool in
            try step(&visit, entry, Pass(pass, of: passes))
          }
          guard goesOn else { return }
        }
      }
    } else {
      let entries = snapshot()
      defer { visit.end() }
      let passes = passes()
      for pass in 0..<passes {
        for entry in entries {
          guard let entry else { continue }
          defer { withExtendedLifetime(entry) {} }
          guard try step(&visit, .passUnretained(entry), Pass(pass, of: passes)) else { return }
        }
      }
    }
  }
}

/// One of the passes of an invocation over the same entries.
@usableFromInline
struct Pass {
  /// Counted from zero.
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
struct Visit {
  @usableFromInline let thread: ThreadRecord.Pointer
  /// Where other threads see what this invocation is calling; see `ThreadRecord`.
  @usableFromInline let frame: UnsafeMutablePointer<ThreadRecord.Frame>
  @usableFromInline let lightBarrierIsFence: Bool
  @usableFromInline var sawDead = false

  @inlinable @inline(__always)
  init(_ thread: ThreadRecord.Pointer) {
    self.thread = thread
    // SAFETY: `ThreadRecord.current` has a free frame, and only this thread opens frames in it.
    frame = thread.pointee.top
    thread.pointee.top = frame + 1
    thread.pointee.wakeUps = 0
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
  /// - Returns: whether to go on.
  @inlinable @inline(__always)
  mutating func pass<Value, E>(
    _ entry: Unmanaged<Entry>, to body: (Value) throws(E) -> Bool
  ) throws(E) -> Bool {
    try pass(entry, otherwise: true) { (head: UnsafeMutablePointer<EntryHead>) throws(E) in
      try Entry.value(head, as: Value.self).pointee.pass(to: body)
    }
  }

  /// Runs `body` if `entry` is still active and its target alive, which it stays until `body`
  /// returns.
  ///
  /// - Returns: what `body` returns, or `skipped` if it was not run.
  @inlinable @inline(__always)
  mutating func pass<R, E>(
    _ entry: Unmanaged<Entry>, otherwise skipped: R,
    _ body: (UnsafeMutablePointer<EntryHead>) throws(E) -> R
  ) throws(E) -> R {
    let head = entry.head
    // Releasing: what the last callback did happened before a waiter finds another entry here.
    frame.pointee.store(UnsafeRawPointer(entry.toOpaque()), ordering: .releasing)
    cmulticast_barrier_light(lightBarrierIsFence)
    // Acquiring: pairs with whoever removed the entry.
    let state = head.pointee.state.load(ordering: .acquiring)
    perturb()
    if _fastPath(state == EntryHead.activeStrong) { return try body(head) }
    guard state == EntryHead.activeWeak else { return skipped }
    guard let target = WeakReference(word: head.pointee.target).promote() else {
      sawDead = true
      return skipped
    }
    // This may be the last release: then the delegate's `deinit` runs here, outside of any lock.
    defer { target.release() }
    return try body(head)
  }

  /// Puts `call` into the mailbox of `entry` if the entry is still active and its target alive.
  ///
  /// Whether the target is alive is checked again when the turn of the call has come.
  ///
  /// - Returns: whether it was enqueued.
  @usableFromInline
  mutating func enqueue(
    _ call: Parcel, for entry: Unmanaged<Entry>, in mailbox: Unmanaged<Mailbox>
  ) -> Bool {
    let head = entry.head
    // Releasing: as in `pass`. The last callback is over; whoever waits for it must not wait for
    // this.
    frame.pointee.store(nil, ordering: .releasing)
    let state = head.pointee.state.load(ordering: .acquiring)  // As in `pass`.
    guard EntryHead.isActive(state) else { return false }
    if state == EntryHead.activeWeak && WeakReference(word: head.pointee.target).isDead {
      sawDead = true
      return false
    }
    // SAFETY: the entry is held by the read section or the snapshot, and it owns the mailbox.
    return mailbox._withUnsafeGuaranteedRef { $0.enqueue(call, for: entry) }
  }
}
