/// The topics whose events are requested from an external log.
enum ExternalTopics: Sendable {
  case names([String])
  case patterns([TopicPattern])
}

/// Events that an iterator gets from an external log, page by page.
struct ExternalReplay<Event: Sendable> {
  /// What each topic misses, in case that the log does not have it.
  private let missing: [MissingEvents]
  /// The last position that was requested.
  private(set) var after: EventPosition
  let through: EventPosition
  /// The last position of what the log had, once it did not have the rest.
  private(set) var failedAfter: EventPosition?
  private var elements: ArraySlice<ExternalPage<Event>.Element> = []

  init(_ range: MissingEvents, _ missing: [MissingEvents]) {
    self.missing = missing
    after = range.after
    through = range.through
  }

  /// The next event of the page.
  mutating func next() -> PositionedTopicEvent<Event>? {
    guard let element = elements.popFirst() else { return nil }
    return .event(
      TopicEvent(topic: element.topic, event: element.event),
      at: EventPosition(epoch: through.epoch, number: element.number))
  }

  /// Whether there is another page to request.
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
      let rest = missing.filter { $0.through > after }.map {
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
    elements = page.elements[...]
    after = EventPosition(epoch: through.epoch, number: page.through)
    return []
  }
}
