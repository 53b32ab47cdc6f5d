/// A log outside of the process that keeps the events of a ``TopicHub``, such as a stream of a
/// broker.
///
/// The positions of the hub's events are those of the log. So several processes that share a log
/// have the same positions, and a client that reconnects to another process goes on where it was.
///
/// ```
/// publisher ──▶ external log ──▶ reader ──▶ ExternalLogWriter ──▶ hub ──▶ subscribers
///                     ▲                                            │
///                     └─────────── page: what the hub lacks ───────┘
/// ```
/// The application publishes to the log, not to the hub. A reader of the log passes the events to
/// the hub through an ``ExternalLogWriter``, in the order of their numbers. The hub keeps what its
/// retention says, and asks the log for older events when a subscriber needs them.
///
/// A sequence waits in its task until the log has answered, also if its subscription ends in the
/// meantime. So answer in a limited time, and at once if the task is cancelled. Handlers and
/// readers do not wait: if one is cancelled, so is the task that asks for it. For these a log that
/// cannot be reached may answer when it can: with `nil`, they miss events that it still has.
///
/// ## Thread safety
/// The hub calls the functions from the tasks of its subscribers, or from tasks of its own for
/// subscribers without one, any number at a time. It holds no lock.
public protocol ExternalLog<Event>: Sendable {
  /// What the log keeps, and the hub delivers.
  associatedtype Event: Sendable

  /// The first events of `topics` in a range, in order, for a subscriber whose hub does not retain
  /// them.
  ///
  /// The hub requests the rest of the range after the events of the page were received.
  ///
  /// - Parameters:
  ///   - topics: the names of one or several topics.
  ///   - position: the last position before the range.
  ///   - last: the number of the last event of the range, in the same epoch.
  /// - Returns: `nil` if the log does not have all events of the range any more, or cannot be
  ///   reached. The subscriber receives the range as missed then.
  func page(
    of topics: [String], after position: EventPosition, through last: UInt64
  ) async -> ExternalPage<Event>?

  /// As ``page(of:after:through:)``, for the topics that at least one of `patterns` matches.
  ///
  /// By default the log does not have them.
  ///
  /// - Parameters:
  ///   - patterns: one or several patterns. An event that several match is there once.
  ///   - position: the last position before the range.
  ///   - last: the number of the last event of the range, in the same epoch.
  /// - Returns: `nil` if the log does not have all events of the range any more, or cannot be
  ///   reached.
  func page(
    matching patterns: [TopicPattern], after position: EventPosition, through last: UInt64
  ) async -> ExternalPage<Event>?

  /// Whether the log has an event that the hub has not received yet.
  ///
  /// The hub asks when a subscriber continues after a position that is higher than the newest one:
  /// a client may have received the event from another process.
  ///
  /// - Parameter position: with an epoch of 0 if the subscriber named no epoch.
  /// - Returns: `false`: the subscriber receives the range up to the position as missed, unless the
  ///   hub has received as many events in the meantime. `nil` if the log cannot be reached: the hub
  ///   then accepts the position until
  ///   ``ExternalLogWriter/refusePositions(after:namedBefore:)`` refuses it.
  func contains(_ position: EventPosition) async -> Bool?
}

extension ExternalLog {
  /// Has no events of patterns: subscribers of them receive only what the hub retains.
  ///
  /// - Parameters:
  ///   - patterns: one or several patterns.
  ///   - position: the last position before the range.
  ///   - last: the number of the last event of the range.
  /// - Returns: `nil`.
  public func page(
    matching patterns: [TopicPattern], after position: EventPosition, through last: UInt64
  ) async -> ExternalPage<Event>? { nil }
}

/// Consecutive events of some topics of an ``ExternalLog``.
///
/// ## Thread safety
/// A value.
public struct ExternalPage<Event: Sendable>: Sendable {
  /// An event, with its topic and its number.
  public struct Element: Sendable {
    /// The name of the topic.
    public let topic: String
    /// The event.
    public let event: Event
    /// The number of the event in the log.
    public let number: UInt64

    /// Creates an element.
    ///
    /// - Parameters:
    ///   - topic: the name of the topic.
    ///   - event: the event.
    ///   - number: the number of the event in the log.
    public init(topic: String, event: Event, number: UInt64) {
      self.topic = topic
      self.event = event
      self.number = number
    }
  }

  /// The events, in the order of their numbers.
  public let elements: [Element]
  /// The page has all events of the topics up to this number.
  public let through: UInt64

  /// Creates a page.
  ///
  /// - Parameters:
  ///   - elements: the events, in the order of their numbers, all inside of the range that was
  ///     asked for.
  ///   - through: the number up to which the page has all events of the topics. It must be higher
  ///     than the number before the range, otherwise the log does not have the rest of it. Elements
  ///     behind it are ignored: the next page begins there.
  public init(_ elements: [Element], through: UInt64) {
    self.elements = elements
    self.through = through
  }
}
