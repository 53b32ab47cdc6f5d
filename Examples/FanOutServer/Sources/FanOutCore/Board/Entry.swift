/// An element of a topic's hub.
///
/// A class, so that a thousand buffers hold one reference each.
final class Entry: Sendable {
  /// `nil`: the entry only wakes streams for `turn`.
  let event: Event?
  /// The last turn before the event.
  let turn: Turn

  init(_ event: Event?, _ turn: Turn) {
    self.event = event
    self.turn = turn
  }
}
