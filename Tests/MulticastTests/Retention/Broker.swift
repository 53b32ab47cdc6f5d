@testable import Multicast

/// An external log in memory, of which a test controls what the hub receives.
actor Broker: ExternalLog {
  typealias Element = ExternalPage<Int>.Element
  private var elements: [Element] = []
  /// Events up to this number have left the log.
  private var trimmed: UInt64 = 0
  private var isReachable = true
  private var pageLimit = 100
  private(set) var requests: [ClosedRange<UInt64>] = []

  func append(_ event: Int, to topic: String, _ number: UInt64) {
    elements.append(Element(topic: topic, event: event, number: number))
  }

  func trim(through number: UInt64) { trimmed = number }
  func setReachable(_ isReachable: Bool) { self.isReachable = isReachable }
  func setPageLimit(_ limit: Int) { pageLimit = limit }

  func page(
    of topics: [String], after position: EventPosition, through last: UInt64
  ) -> ExternalPage<Int>? {
    page(after: position, through: last) { topics.contains($0) }
  }

  func page(
    matching patterns: [TopicPattern], after position: EventPosition, through last: UInt64
  ) -> ExternalPage<Int>? {
    page(after: position, through: last) { topic in patterns.contains { $0.matches(topic) } }
  }

  private func page(
    after position: EventPosition, through last: UInt64, _ isWanted: (String) -> Bool
  ) -> ExternalPage<Int>? {
    requests.append(position.number + 1...last)
    guard isReachable, position.number >= trimmed else { return nil }
    let all = elements.filter {
      $0.number > position.number && $0.number <= last && isWanted($0.topic)
    }
    let page = Array(all.prefix(pageLimit))
    return ExternalPage(page, through: page.count < all.count ? page.last!.number : last)
  }

  func contains(_ position: EventPosition) -> Bool? {
    isReachable ? position.number <= elements.last?.number ?? 0 : nil
  }
}

/// What the suites of external logs use.
protocol ExternalLogSuite {}

extension ExternalLogSuite {
  typealias Hub = TopicHub<String, Int>

  func make(
    _ log: some ExternalLog<Int>, keeping count: Int = 100, total: Retention<Int> = .all
  ) -> (Hub, ExternalLogWriter<Int>) {
    var given: ExternalLogWriter<Int>?
    let hub = Hub(retention: .last(count), total: total) { writer in
      given = writer
      return log
    }
    return (hub, given!)
  }

  func at(_ number: UInt64, epoch: UInt64 = 7) -> EventPosition {
    EventPosition(epoch: epoch, number: number)
  }

  /// A short description of each element, until the hub finishes.
  func texts(_ sequence: PositionedTopicSequence<Int>) async -> [String] {
    var texts: [String] = []
    for await element in sequence { texts.append(text(element)) }
    return texts
  }

  /// A short description of each element that a reader has now.
  func read(_ reader: TopicReader<Int>) -> [String] {
    var texts: [String] = []
    while let element = reader.nextIfAvailable() { texts.append(text(element)) }
    return texts
  }

  /// As ``read(_:)``, and what the external log answers.
  func readAnswers(_ reader: TopicReader<Int>) async -> [String] {
    var texts = read(reader)
    while reader.position == nil && reader.end == nil {
      await Task.yield()
      texts += read(reader)
    }
    return texts
  }

  /// The next element of a reader that has one, perhaps in an answer.
  func nextAnswer(_ reader: TopicReader<Int>) async -> PositionedTopicEvent<Int> {
    while true {
      if let element = reader.nextIfAvailable() { return element }
      await Task.yield()
    }
  }

  func text(_ element: PositionedTopicEvent<Int>) -> String {
    switch element {
    case .event(let event, at: let position):
      "\(event.topic) \(event.event) @\(position.number)"
    case .missed(let range, of: let topic):
      "missed \(topic ?? "?") \(range.after.epoch):\(range.after.number)-"
        + "\(range.through.epoch):\(range.through.number)"
    }
  }
}
