/// What goes to the subscribers of a topic, in order.
///
/// A class: as large as one reference in each of a thousand buffers.
final class Entry: Sendable {
  /// `nil` if it only wakes the stream for `turn`.
  let event: Event?
  /// The last one before the event.
  let turn: Turn

  init(_ event: Event?, _ turn: Turn) {
    self.event = event
    self.turn = turn
  }
}
