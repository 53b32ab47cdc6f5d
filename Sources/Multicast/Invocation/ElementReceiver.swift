/// Passes the elements of a mailbox to a handler.
///
/// ## Thread safety
/// The thread that drains the mailbox.
@usableFromInline
class ElementReceiver: @unchecked Sendable {
  // Sendable: without state; the subclass says why it is.

  init() {}

  /// Passes an element to the handler of the entry at `head`.
  func receive(_ element: EnvelopeReference, for head: UnsafeMutablePointer<EntryHead>) {
    fatalError("Multicast: every receiver implements this")
  }
}
