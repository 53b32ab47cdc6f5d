/// The topics whose events are requested from an external log.
enum ExternalTopics: Sendable {
  case names([String])
  case patterns([TopicPattern])
}

/// Events that a reader requests from an external log.
struct ExternalRange {
  let after: EventPosition
  let through: EventPosition
  /// What each topic misses, in case that the log does not have it.
  let missing: [MissingEvents]
  /// The number up to which what each topic misses was reported before, because the log did not
  /// have those events then: it may have them now.
  let reported: [String: UInt64]
}

/// Events that a subscriber gets from an external log, page by page.
struct ExternalReplay<Event: Sendable> {
  private let range: ExternalRange
  /// The last position that was requested.
  private(set) var after: EventPosition
  /// The last position of what the log had, once it did not have the rest.
  private(set) var failedAfter: EventPosition?
  private var elements: ArraySlice<ExternalPage<Event>.Element> = []

  init(_ range: ExternalRange) {
    self.range = range
    after = range.after
  }

  private var through: EventPosition { range.through }

  /// The next event of the page.
  mutating func next() -> PositionedTopicEvent<Event>? {
    guard let element = elements.popFirst() else { return nil }
    return .event(
      TopicEvent(topic: element.topic, event: element.event),
      at: EventPosition(epoch: through.epoch, number: element.number))
  }

  /// Whether there is no other page to request.
  var isComplete: Bool { after.number >= through.number }

  /// Requests the next page for ``take(_:)``.
  func requestPage(
    of topics: ExternalTopics, _ retention: TopicRetention<Event>
  ) async -> ExternalPage<Event>? {
    await retention.page(of: topics, after: after, through: through.number)
  }

  /// Takes the next page, which begins after ``after``.
  ///
  /// - Parameter page: `nil`: the log does not have the rest.
  /// - Returns: what is missing because of that.
  mutating func take(_ page: ExternalPage<Event>?) -> [MissingEvents] {
    guard let page, page.through > after.number else {
      // The parts of the ranges that were not received.
      let rest = range.missing.filter { $0.through > after }.map {
        MissingEvents(topic: $0.topic, after: max($0.after, after), through: $0.through)
      }
      failedAfter = after
      after = through
      return rest
    }
    var last = after.number
    for element in page.elements {
      require(
        element.number > last && element.number <= through.number,
        """
        Multicast: a page of an external log has number \(element.number) after \(last), in a range up to \
        \(through.number); return the events of the range in the order of their numbers.
        """)
      last = element.number
    }
    // What is behind the end of the page comes with the next one.
    elements =
      page.elements.filter {
        $0.number <= page.through && $0.number > range.reported[$0.topic] ?? 0
      }[...]
    after = EventPosition(epoch: through.epoch, number: page.through)
    return []
  }
}
