/// How subscriptions begin in a hub that gives its events one order but keeps none: each subscriber
/// receives `firstEvent` first, and again after each block, and otherwise each event whose delivery
/// finds it, as `prepare` makes it.
///
/// A class, as ``RetentionRules`` is, and for the same reason.
final class EventOpening<Event: Sendable>: Sendable {
  let firstEvent: Event
  /// Makes the event to deliver of one that was sent. Called by the thread that delivers, in order,
  /// with no lock held.
  let prepare: @Sendable (Event, _ number: UInt64) -> Event

  init(
    firstEvent: Event, prepare: @escaping @Sendable (Event, _ number: UInt64) -> Event
  ) {
    self.firstEvent = firstEvent
    self.prepare = prepare
  }
}
