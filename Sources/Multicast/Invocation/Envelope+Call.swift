// A call as the content of an envelope: what waits in the mailbox of a delegate.

extension Envelope {
  /// A call of whatever value the entry has.
  @inlinable
  init<Value>(call body: @escaping @Sendable (Value) -> Void) {
    self.init(
      CallBox { head in Entry.value(head, as: Value.self).pointee.pass(to: body) })
  }

  /// Makes the call that is in the box, of an entry that is active and whose target is alive.
  func call(_ head: UnsafeMutablePointer<EntryHead>) {
    // SAFETY: the mailbox of a delegate is given calls.
    unsafeDowncast(box, to: CallBox.self).body(head)
  }
}

@usableFromInline
final class CallBox: Sendable {
  let body: @Sendable (UnsafeMutablePointer<EntryHead>) -> Void

  @usableFromInline
  init(_ body: @escaping @Sendable (UnsafeMutablePointer<EntryHead>) -> Void) {
    self.body = body
  }
}
