// A call as the content of an envelope, for the mailbox of a delegate.

extension Envelope {
  /// A call of `body` with the value of the entry that gets the envelope.
  @inlinable
  init<Value>(call body: @escaping @Sendable (Value) -> Void) {
    self.init(
      CallBox { head in Entry.value(head, as: Value.self).pointee.pass(to: body) })
  }
}

extension EnvelopeReference {
  /// Makes the call, with the value of an active entry whose target is alive.
  func call(_ head: UnsafeMutablePointer<EntryHead>) {
    // SAFETY: the mailbox of a delegate contains only calls.
    object!._withUnsafeGuaranteedRef { unsafeDowncast($0, to: CallBox.self).body(head) }
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
