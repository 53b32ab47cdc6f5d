/// What a subscriber that asks for positions receives: an event, or the range of events that it
/// missed.
///
/// ## Thread safety
/// A value: any thread may use its copy.
public enum PositionedEvent<Event: Sendable>: Sendable {
  /// An event, and its position.
  case event(Event, at: EventPosition)
  /// Events that the hub does not retain any more, at the place in the order where they would be.
  case missed(MissedEvents)
}

extension PositionedEvent: Equatable where Event: Equatable {}
extension PositionedEvent: Hashable where Event: Hashable {}

extension PositionedEvent {
  @usableFromInline
  typealias Call = @Sendable (Envelope, EventPosition, (PositionedEvent) -> Void) -> Void

  /// Calls a handler with an event of the log. Made where the hub is made, so that the compiler
  /// specialises it; see ``EventHub/delivery``.
  @inlinable
  static var call: Call {
    { envelope, position, handler in
      handler(.event(envelope.event(Event.self), at: position))
    }
  }

  /// The event; `nil` for a range of missed ones.
  public var event: Event? {
    if case .event(let event, _) = self { event } else { nil }
  }

  /// Where to continue after this: the position of the event, or of the last missed one.
  public var position: EventPosition {
    switch self {
    case .event(_, let position): position
    case .missed(let missed): missed.through
    }
  }
}

/// A range of events that a subscriber does not receive, because they are no longer retained.
///
/// ## Thread safety
/// A value: any thread may use its copy.
public struct MissedEvents: Hashable, Sendable {
  /// The position after which the subscriber wanted to continue, or which it had reached.
  public let after: EventPosition
  /// The last position of the range. The subscription goes on after it.
  ///
  /// Of a ``TopicHub``, that is so of the events of the same topic. Those of its other topics may
  /// have lower positions, and follow: a later subscription that continues this one begins after
  /// the position of its last event, or after ``TopicReader/position``.
  public let through: EventPosition
  private let counted: Counted

  /// Creates a range, for tests of code that receives one.
  ///
  /// - Parameters:
  ///   - after: the position before the range.
  ///   - through: the last position of the range.
  public init(after: EventPosition, through: EventPosition) {
    self.init(after: after, through: through, counted: .byNumber)
  }

  /// Creates a range of positions that not only the missed events have, as a ``TopicHub`` reports
  /// it.
  ///
  /// - Parameters:
  ///   - after: the position before the range.
  ///   - through: the last position of the range.
  ///   - count: the number of missed events; `nil`: unknown.
  public init(after: EventPosition, through: EventPosition, count: Int?) {
    self.init(
      after: after, through: through, counted: count.map { .exactly($0) } ?? .unknown)
  }

  /// Creates a range.
  ///
  /// - Parameters:
  ///   - after: the position before the range.
  ///   - through: the last position of the range.
  ///   - counted: how many events are missed.
  init(after: EventPosition, through: EventPosition, counted: Counted) {
    self.after = after
    self.through = through
    self.counted = counted
  }

  /// How many events are missed.
  enum Counted: Hashable, Sendable {
    /// Each number of the range is an event.
    case byNumber
    /// This many of the events with these numbers.
    case exactly(Int)
    case unknown
  }

  /// The number of missed events; `nil` if it is unknown: ``after`` is not a position of this
  /// epoch, because the hub has begun anew, or has not come so far; or the events are those of a
  /// topic, and had left before the subscriber came, or it reads patterns, or an external log did
  /// not have them. In a hub with keys it includes events in the range that newer ones had replaced
  /// before.
  public var count: Int? {
    switch counted {
    case .exactly(let count): return count
    case .unknown: return nil
    case .byNumber:
      guard after.epoch == through.epoch, after.number <= through.number else { return nil }
      return Int(exactly: through.number - after.number)
    }
  }
}

extension MissedEvents: CustomStringConvertible {
  /// The number of missed events, and the range.
  public var description: String {
    let events =
      switch count {
      case 1: "1 event"
      case let count?: "\(count) events"
      case nil: "an unknown number of events"
      }
    return "\(events) after \(after), through \(through)"
  }
}
