/// Events that a subscriber with positions receives together, and what it missed before them.
///
/// ## Thread safety
/// A value: any thread may use its copy.
public struct PositionedBatch<Event: Sendable>: Sendable {
  /// The events before the first of ``events`` that are no longer retained; `nil`: the subscriber
  /// has missed none.
  public let missed: MissedEvents?
  /// The events, in order. There may be none only if the subscriber has missed some.
  public let events: [Event]

  @usableFromInline let epoch: UInt64
  @usableFromInline let numbers: EventNumbers
}

extension PositionedBatch {
  /// Takes at most `limit` of the events that `cursor` has read, and of these what `filter`
  /// accepts.
  @inlinable
  init(taking limit: Int, from cursor: LogCursor, where filter: (@Sendable (Event) -> Bool)?) {
    missed = cursor.takeMissed()
    epoch = cursor.epoch
    let count = min(limit, cursor.readCount)
    if let filter {
      var accepted: [Event] = []
      var numbers = EventNumbers()
      cursor.moveItems(count) { item, _ in
        let event = item.envelope.event(Event.self)
        guard filter(event) else { return }
        accepted.append(event)
        numbers.append(item.number)
      }
      events = accepted
      self.numbers = numbers
    } else {
      numbers = cursor.numbers(count)
      events = [Event](unsafeUninitializedCapacity: count) { events, initializedCount in
        cursor.moveItems(count) { item, offset in
          // SAFETY: called once for each offset below `count`, because it takes nothing itself.
          (events.baseAddress! + offset).initialize(to: item.envelope.event(Event.self))
        }
        initializedCount = count
      }
    }
  }
}

extension PositionedBatch: Equatable where Event: Equatable {}
extension PositionedBatch: Hashable where Event: Hashable {}

extension PositionedBatch {
  /// Where to continue after the batch: the position of the last event, or of the last missed one.
  ///
  /// - Complexity: O(1).
  public var position: EventPosition {
    if events.isEmpty, let missed { return missed.through }
    return position(at: events.count - 1)
  }

  /// The position of one of the events.
  ///
  /// - Parameter index: that of the event in ``events``.
  /// - Returns: its position.
  /// - Precondition: `index` is one of ``events``.
  /// - Complexity: O(1).
  public func position(at index: Int) -> EventPosition {
    require(
      events.indices.contains(index),
      """
      Multicast: a batch of \(events.count) events has none at \(index); use an index of `events`.
      """)
    return EventPosition(epoch: epoch, number: numbers[index])
  }
}

/// The numbers of some events, in order. They are stored only if they are not consecutive.
@usableFromInline
struct EventNumbers: Hashable, Sendable {
  private var count: Int
  private var last: UInt64
  /// Each number, once they are not consecutive; before that empty.
  private var stored: [UInt64] = []

  @usableFromInline
  init() {
    self.init(0, through: 0)
  }

  /// `count` consecutive numbers.
  init(_ count: Int, through last: UInt64) {
    self.count = count
    self.last = last
  }

  /// - Parameter number: higher than all before.
  @usableFromInline
  mutating func append(_ number: UInt64) {
    if stored.isEmpty, count > 0, number != last + 1 { stored = (0..<count).map { self[$0] } }
    if !stored.isEmpty { stored.append(number) }
    count += 1
    last = number
  }

  subscript(index: Int) -> UInt64 {
    stored.isEmpty ? last - UInt64(count - 1 - index) : stored[index]
  }
}
