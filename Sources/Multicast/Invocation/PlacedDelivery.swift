/// One invocation of entries of which some have a mailbox.
@usableFromInline
struct PlacedDelivery<Value> {
  /// Called by the consumers of the mailboxes.
  @usableFromInline let later: @Sendable (Value) -> Void
  @usableFromInline var appends = EnvelopeAppends()
  /// The number of calls that were made and counted.
  @usableFromInline var called = 0

  @inlinable
  init(later: @escaping @Sendable (Value) -> Void) { self.later = later }
}

extension PlacedDelivery {
  /// Enqueues a call of `later` for `entry`, or calls `here` if that has no mailbox.
  ///
  /// - Parameter here: returns whether to count the call.
  @inlinable
  mutating func pass(
    _ entry: Unmanaged<Entry>, _ invocation: inout Invocation, here: (Value) -> Bool
  ) {
    if let mailbox = entry.head.pointee.placedMailbox {
      if appends.envelope == nil { appends.envelope = Envelope(call: later) }
      appends.add(to: mailbox, of: entry, &invocation)
      return
    }
    appends.flush(invocation.thread)
    let isCounted = invocation.pass(entry, access: .call, otherwise: false) { head in
      Entry.value(head, as: Value.self).pointee.pass(to: here)
    }
    if isCounted { called += 1 }
  }

  /// Enqueues what has been collected.
  ///
  /// - Returns: the number of entries that were enqueued, or called and counted.
  @inlinable
  mutating func end(_ invocation: inout Invocation) -> Int {
    appends.flush(invocation.thread)
    return called + appends.delivered
  }
}
