// The hot path: calls every registered entry. It is inlinable, to be specialised for the user's
// types and closure in the user's module.

public import Synchronization

extension Registry {
  /// Passes the value of each live entry to `body`, in order, until it returns `false`.
  ///
  /// The entries are those that were registered at the beginning, without those removed before
  /// their call. No lock is held while `body` runs. A weak target is retained for exactly its call.
  ///
  /// - Parameter access: what `body` does with the value.
  @inlinable @inline(__always)
  func forEachValue<Value, E>(
    _: Value.Type, access: Access = .call, _ body: (Value) throws(E) -> Bool
  ) throws(E) {
    try forEachEntry {
      (invocation: inout Invocation, entry: Unmanaged<Entry>, _: Pass) throws(E) -> Bool in
      try invocation.pass(entry, access: access, to: body)
    }
  }

  /// Delivers to each live entry: through its mailbox, or by a call if it has none.
  ///
  /// If no delegate was added with a mailbox, what `function` returns does not leave this function,
  /// which is inlined: where the caller writes a closure, its context is not allocated.
  ///
  /// - Parameter function: returns what to call with the value of each entry, later if that has a
  ///   mailbox. Evaluated once.
  /// - Returns: the number of entries that were called or enqueued.
  @inlinable @inline(__always)
  func deliver<Value>(_ function: () -> @Sendable (Value) -> Void) -> Int {
    guard let published, !mayHavePlaces.load(ordering: .relaxed) else {
      return deliverToPlaces(function())
    }
    var delivered = 0
    var hasPlaces = false
    var invocation = Invocation(ThreadCallStack.current)
    defer { if invocation.sawDead { pruneAfterInvocation() } }
    defer { withExtendedLifetime(self) {} }
    // SAFETY: the registry keeps the storage, and the caller the registry.
    published.read(
      invocation.thread, invocation.frame, isFence: invocation.lightBarrierIsFence
    ) { entries in
      // Before the end of the read section, as in `forEachEntry`.
      defer { invocation.end() }
      perturb()
      hasPlaces = mayHavePlaces.load(ordering: .relaxed)
      guard !hasPlaces else { return }
      let body = function()
      _ = entries.forEach { entry in
        // One that now has a mailbox has replaced what was registered when this began.
        invocation.pass(entry, access: .callIfUnplaced) { (value: Value) -> Bool in
          body(value)
          delivered += 1
          return true
        }
      }
      // Before `body` is released, which may run a `deinit` of the user.
      invocation.closeCall()
    }
    return hasPlaces ? deliverToPlaces(function()) : delivered
  }

  /// As ``deliver(_:)``, for any storage, and for a hub that has, or had, a delegate with a
  /// mailbox.
  @inlinable @inline(never)
  func deliverToPlaces<Value>(_ body: @escaping @Sendable (Value) -> Void) -> Int {
    deliver(
      here: { (value: Value) in
        body(value)
        return true
      }, later: body)
  }

  /// Delivers to each live entry: through its mailbox, or by a call if it has none.
  ///
  /// - Parameters:
  ///   - here: called now with the value of an entry without a mailbox. Returns whether to count
  ///     it.
  ///   - later: called with the value of an entry with a mailbox, by the consumer of that.
  /// - Returns: the number of entries that were enqueued, or called and counted.
  @inlinable @inline(__always)
  func deliver<Value>(
    here: (Value) -> Bool, later: @escaping @Sendable (Value) -> Void
  ) -> Int {
    var delivered = 0
    var appends = EnvelopeAppends()
    forEachEntry { invocation, entry, _ in
      if let mailbox = entry.head.pointee.placedMailbox {
        if appends.envelope == nil { appends.envelope = Envelope(call: later) }
        appends.add(to: mailbox, of: entry, &invocation)
        return true
      }
      appends.flush(invocation.thread)
      return invocation.pass(entry, access: .call) { (value: Value) -> Bool in
        if here(value) { delivered += 1 }
        return true
      }
    } atEnd: { invocation in
      appends.flush(invocation.thread)
    }
    return delivered + appends.delivered
  }

  /// Runs `step` for each entry, in order, until it returns `false`; in each pass for the same
  /// entries.
  ///
  /// - Parameters:
  ///   - passes: the number of passes. Evaluated after the entries are loaded.
  ///   - atEnd: runs at the end, while the entries are held.
  @inlinable @inline(__always)
  func forEachEntry<E>(
    passes: @autoclosure () -> Int = 1,
    _ step: (inout Invocation, Unmanaged<Entry>, Pass) throws(E) -> Bool,
    atEnd: (inout Invocation) -> Void = { _ in }
  ) throws(E) {
    var invocation = Invocation(ThreadCallStack.current)
    defer { if invocation.sawDead { pruneAfterInvocation() } }
    if let published {
      defer { withExtendedLifetime(self) {} }
      // SAFETY: the registry keeps the storage, and the caller the registry.
      try published.read(
        invocation.thread, invocation.frame, isFence: invocation.lightBarrierIsFence
      ) { (entries: PublishedEntries) throws(E) in
        // Before the end of the read section, which may free entries and run a `deinit` of the
        // user.
        defer {
          atEnd(&invocation)
          invocation.end()
        }
        let passes = passes()
        for pass in 0..<passes {
          let isComplete = try entries.forEach { (entry: Unmanaged<Entry>) throws(E) -> Bool in
            try step(&invocation, entry, Pass(pass, of: passes))
          }
          guard isComplete else { return }
        }
      }
    } else {
      let entries = snapshot()
      defer {
        withExtendedLifetime(entries) { atEnd(&invocation) }
        invocation.end()
      }
      let passes = passes()
      for pass in 0..<passes {
        for entry in entries {
          guard let entry else { continue }
          defer { withExtendedLifetime(entry) {} }
          guard try step(&invocation, .passUnretained(entry), Pass(pass, of: passes)) else {
            return
          }
        }
      }
    }
  }
}
