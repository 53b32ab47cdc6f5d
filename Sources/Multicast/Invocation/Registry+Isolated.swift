// Invocations with an isolated closure: each call is enqueued.

extension Registry {
  /// Enqueues a call of `body` for each live entry, on `home`.
  ///
  /// - Parameter body: must be called on `home`.
  /// - Returns: the number of live entries.
  func enqueue<Value>(
    on home: any Actor, through calls: borrowing IsolatedCalls,
    _ body: @escaping @Sendable (Value) -> Void
  ) -> Int {
    var entries: ContiguousArray<Entry> = []
    var call: Envelope?
    var delivered = 0
    forEachEntry { invocation, entry, _ in
      // An entry that was added on the same actor has a mailbox of its own, with limit and counts.
      // SAFETY: the invocation holds the entry, which owns its mailbox.
      if let mailbox = entry.head.pointee.placedMailbox,
        mailbox._withUnsafeGuaranteedRef({ ($0 as? ActorMailbox)?.isOn(home) ?? false })
      {
        let envelope = call ?? Envelope(call: body)
        call = envelope
        if invocation.enqueue(envelope, for: entry, in: mailbox) { delivered += 1 }
      } else if invocation.admits(entry) {
        entries.append(entry.takeUnretainedValue())
      }
      return true
    }
    guard !entries.isEmpty else { return delivered }
    delivered += entries.count
    let called = CalledEntries(entries)
    calls.enqueue(
      Envelope(IsolatedCall { [weak self] in called.call(atMost: $0, in: self, body) }), on: home)
    return delivered
  }

  /// As ``enqueue(on:through:_:)``, for values that belong to `home`: this thread becomes the last
  /// owner of none, whatever is removed meanwhile.
  func enqueueOwned<Value>(
    on home: any Actor, through calls: borrowing IsolatedCalls,
    _ body: @escaping @Sendable (Value) -> Void
  ) -> Int {
    let called = CalledEntries(lockedSnapshot())
    guard !called.isEmpty else { return 0 }
    let delivered = called.appendPlaced(on: home, Envelope(call: body))
    calls.enqueue(
      Envelope(IsolatedCall { [weak self] in called.call(atMost: $0, in: self, body) }), on: home)
    return delivered
  }

  /// Enqueues a call of `body` for each live entry, on the actor that `home` returns for its value.
  ///
  /// An entry gets a mailbox of its own for these calls. Only for its first call is its target
  /// retained, to ask `home`.
  ///
  /// - Returns: the number of live entries.
  func enqueueOnEach<Value: Sendable>(
    _ home: (Value) -> any Actor, _ body: @escaping @Sendable (Value) async -> Void
  ) -> Int {
    var delivered = 0
    var call: Envelope?
    forEachEntry { invocation, entry, _ in
      // SAFETY: the invocation holds the entry, which owns the mailbox.
      if let mailbox = entry.head.pointee.mailbox,
        mailbox._withUnsafeGuaranteedRef({ $0 is TaskMailbox })
      {
        let envelope = call ?? Envelope(AsyncCallBox(body))
        call = envelope
        if invocation.enqueue(envelope, for: entry, in: mailbox) { delivered += 1 }
        return true
      }
      // SAFETY: the invocation holds the entry.
      guard !entry._withUnsafeGuaranteedRef({ $0.isBlocked }) else {
        _ = invocation.isLive(entry)  // Finds out whether it is dead.
        return true
      }
      return invocation.pass(entry, access: .read) { (value: Value) in
        let envelope = call ?? Envelope(AsyncCallBox(body))
        call = envelope
        let entry = entry.takeUnretainedValue()
        let mailbox = entry.mailbox(or: {
          TaskMailbox(on: home(value), isPlace: false, caller: AsyncCaller<Value>())
        })
        require(
          mailbox is TaskMailbox,
          """
          Multicast: \(type(of: value as Any)) was added on a queue or an actor, but is called on \
          the actor that it is. Add it without a place.
          """)
        if mailbox.enqueue(envelope, for: .passUnretained(entry)) { delivered += 1 }
        return true
      }
    }
    return delivered
  }
}

/// An asynchronous call, as the content of an envelope.
private final class AsyncCallBox<Value: Sendable>: Sendable {
  let body: @Sendable (Value) async -> Void

  init(_ body: @escaping @Sendable (Value) async -> Void) {
    self.body = body
  }
}

/// Makes the calls that wait in a mailbox.
private final class AsyncCaller<Value: Sendable>: ElementReceiver, @unchecked Sendable {
  // Sendable: without state.

  override func receiveInTask(
    _ element: EnvelopeReference, for head: UnsafeMutablePointer<EntryHead>
  ) async {
    // SAFETY: the mailbox contains only such calls.
    let box = unsafeDowncast(element.object!.takeUnretainedValue(), to: AsyncCallBox<Value>.self)
    let call = MeasuredCall(of: head)
    await box.body(Entry.value(head, as: Value.self).pointee.value)
    call.end()
  }
}
