/// Passes the elements of a mailbox to a handler.
///
/// ## Thread safety
/// The thread, or the task, that drains the mailbox.
@usableFromInline
class ElementReceiver: @unchecked Sendable {
  // Sendable: without state; the subclass says why it is.

  init() {}

  /// Passes an element to the handler of the entry at `head`.
  func receive(_ element: EnvelopeReference, for head: UnsafeMutablePointer<EntryHead>) {
    fatalError("Multicast: every receiver implements this")
  }

  /// As ``receive(_:for:)``, to an asynchronous handler.
  func receiveInTask(
    _ element: EnvelopeReference, for head: UnsafeMutablePointer<EntryHead>
  ) async {
    fatalError("Multicast: every receiver of a task implements this")
  }
}
