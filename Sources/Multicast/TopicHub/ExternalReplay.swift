/// Events that an iterator gets from an external log, page by page.
struct ExternalReplay<Event: Sendable> {
  /// What each topic misses, in case that the log does not have it.
  private let missing: [MissingEvents]
  /// The last position that was requested.
  private var after: EventPosition
  private let through: EventPosition
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

  /// Requests the next page.
  ///
  /// - Returns: what is missing, if the log does not have the rest.
  mutating func requestPage(_ reader: TopicLogReader<Event>) async -> [MissingEvents] {
    let page = await reader.page(after: after, through: through.number)
    guard let page, page.through > after.number else {
      // The parts of the ranges that were not received.
      let rest = missing.filter { $0.through > after }.map {
        MissingEvents(topic: $0.topic, after: max($0.after, after), through: $0.through)
      }
      after = through
      return rest
    }
    var last = after.number
    for element in page.elements {
      require(
        element.number > last && element.number <= through.number,
        """
        Multicast: a page of an external log has number \\(element.number) after \\(last), in a range up to \\
        \\(through.number); return the events of the range in the order of their numbers.
        """)
      last = element.number
    }
    elements = page.elements[...]
    after = EventPosition(epoch: through.epoch, number: page.through)
    return []
  }
}
