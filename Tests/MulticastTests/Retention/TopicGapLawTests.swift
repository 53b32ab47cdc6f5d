import MulticastTestSupport
import Testing

@testable import Multicast

@Suite("Each event is received or missed, once, also if an external log fails and begins anew")
struct TopicGapLawTests {
  @Test("random events, gaps, limits, subscribers and answers", arguments: [false, true])
  func law(beginsAnew: Bool) async {
    for series in 0..<100 as Range<UInt64> {
      let seed = SplitMix64.runSeed &+ series &* 0x1_0000_0001
      var run = GapRun(seed: seed, beginsAnew: beginsAnew)
      await run.steps(80)
      guard await run.end() else { return }
    }
  }
}

/// An external log that answers at random, and by parts.
private final class UnreliableLog: ExternalLog {
  private struct Content {
    var events: [ExternalPage<Int>.Element] = []
    var epoch: UInt64 = 7
    /// Whether answers wait.
    var isHeld = false
    let pageLimit: Int
    /// How many of ten answers fail.
    let failures: Int
    var generator: SplitMix64
  }

  private let content: Guarded<Content>

  init(pageLimit: Int, failures: Int, _ generator: SplitMix64) {
    content = Guarded(Content(pageLimit: pageLimit, failures: failures, generator: generator))
  }

  func append(_ number: UInt64, _ topic: String) {
    content.withLock {
      $0.events.append(ExternalPage.Element(topic: topic, event: Int(number), number: number))
    }
  }

  func begin(epoch: UInt64) {
    content.withLock { content in
      content.epoch = epoch
      content.events = []
    }
  }

  func setHeld(_ isHeld: Bool) { content.withLock { $0.isHeld = isHeld } }

  var isHeld: Bool { content.withLock { $0.isHeld } }

  func page(
    of topics: [String], after position: EventPosition, through last: UInt64
  ) async -> ExternalPage<Int>? {
    await page(after: position, through: last) { topics.contains($0) }
  }

  func page(
    matching patterns: [TopicPattern], after position: EventPosition, through last: UInt64
  ) async -> ExternalPage<Int>? {
    await page(after: position, through: last) { topic in
      patterns.contains { $0.matches(topic) }
    }
  }

  private func page(
    after position: EventPosition, through last: UInt64, _ isWanted: (String) -> Bool
  ) async -> ExternalPage<Int>? {
    while isHeld { await Task.yield() }
    return content.withLock { content in
      let fails = Int.random(in: 0..<10, using: &content.generator) < content.failures
      guard !fails, position.epoch == content.epoch else { return nil }
      let all = content.events.filter {
        $0.number > position.number && $0.number <= last && isWanted($0.topic)
      }
      let page = Array(all.prefix(content.pageLimit))
      return ExternalPage(page, through: page.count < all.count ? page.last!.number : last)
    }
  }

  func contains(_: EventPosition) async -> Bool? { nil }
}

/// A hub and its log, and subscribers of which each is checked against the list of all events.
private struct GapRun {
  private struct Subscriber {
    let reader: TopicReader<Int>
    let topics: Set<String>
    let start: EventPosition
    let isLimited: Bool
    /// Up to here the log alone says what there is.
    let skipped: EventPosition
    let name: String
    var last: EventPosition
    /// How often each event was received, or missed in a range of its topic.
    var counts: [EventPosition: Int] = [:]
    /// The ranges of all topics.
    var gaps: [MissedEvents] = []
    /// The sum of the counts of all ranges.
    var missed = 0
  }

  private static let names = ["a", "b", "c"]

  private var generator: SplitMix64
  private let hub: TopicHub<String, Int>
  private let log: UnreliableLog
  private let writer: ExternalLogWriter<Int>
  private let beginsAnew: Bool
  private let perTopic: Int
  private let total: Int
  private var topics: [EventPosition: String] = [:]
  private var kept: [EventPosition] = []
  private var newest = EventPosition(epoch: 7, number: 0)
  /// The end of the last gap of the log.
  private var skipped = EventPosition(epoch: 0, number: 0)
  private var subscribers: [Subscriber] = []
  private let name = "STRESS_SEED=\(SplitMix64.runSeed)"
  private var isRight = true

  init(seed: UInt64, beginsAnew: Bool) {
    var generator = SplitMix64(seed: seed)
    self.beginsAnew = beginsAnew
    perTopic = [1, 2, 4, 20, 200].randomElement(using: &generator)!
    total = [2, 5, 20, 400].randomElement(using: &generator)!
    log = UnreliableLog(
      pageLimit: [1, 2, 3, 50].randomElement(using: &generator)!,
      failures: [0, 2, 5, 10].randomElement(using: &generator)!, SplitMix64(seed: ~seed))
    self.generator = generator
    var writer: ExternalLogWriter<Int>?
    let log = log
    hub = TopicHub(retention: .last(perTopic), total: .last(total)) { given in
      writer = given
      return log
    }
    self.writer = writer!
    self.writer.begin(epoch: 7, after: 0)
  }

  mutating func steps(_ count: Int) async {
    for _ in 0..<count where isRight {
      switch Int.random(in: 0..<16, using: &generator) {
      case 0, 1: subscribe()
      case 2, 3, 4:
        guard !subscribers.isEmpty else { continue }
        let index = Int.random(in: 0..<subscribers.count, using: &generator)
        await read(index, atMost: [1, 5, .max].randomElement(using: &generator)!)
      case 5: makeGap()
      case 6: log.setHeld(!log.isHeld)
      case 7: if beginsAnew, Bool.random(using: &generator) { begin() }
      case 8: for _ in 0..<Int.random(in: 1..<70, using: &generator) { deliver() }
      default: deliver()
      }
    }
  }

  /// - Returns: whether everything was as expected.
  mutating func end() async -> Bool {
    log.setHeld(false)
    for index in subscribers.indices { await read(index, atMost: .max) }
    let missed = subscribers.reduce(0) { $0 + $1.missed }
    if isRight, hub.droppedEvents != missed {
      isRight = false
      Issue.record("\(hub.droppedEvents) are counted, \(missed) were reported: \(name)")
    }
    return isRight
  }

  private mutating func advance(_ range: ClosedRange<UInt64>) {
    let step = UInt64.random(in: range, using: &generator)
    newest = EventPosition(epoch: newest.epoch, number: newest.number + step)
  }

  private mutating func deliver() {
    let topic = Self.names.randomElement(using: &generator)!
    advance(1...2)
    topics[newest] = topic
    kept.append(newest)
    let ofTopic = kept.filter { topics[$0] == topic }
    if ofTopic.count > perTopic { kept.removeAll { $0 == ofTopic[0] } }
    if kept.count > total { kept.removeFirst() }
    log.append(newest.number, topic)
    writer.deliver(Int(newest.number), to: topic, number: newest.number)
  }

  private mutating func makeGap() {
    advance(1...3)
    if Bool.random(using: &generator) {
      writer.skip(through: newest.number)
      skipped = newest
    } else {
      hub.withBlocked { _ = writer.deliver(0, to: "a", number: newest.number) }
    }
  }

  private mutating func begin() {
    kept = []
    if Bool.random(using: &generator) {
      // The same epoch: the log still has its events.
      advance(0...2)
      writer.begin(epoch: newest.epoch, after: newest.number)
      return
    }
    let number = UInt64.random(in: 0..<10, using: &generator)
    newest = EventPosition(epoch: newest.epoch + 1, number: number)
    log.begin(epoch: newest.epoch)
    writer.begin(epoch: newest.epoch, after: number)
  }

  private mutating func subscribe() {
    let topics = Set((0..<3).map { _ in Self.names.randomElement(using: &generator)! })
    var start = newest
    if Bool.random(using: &generator) {
      let number = UInt64.random(in: 0...newest.number, using: &generator)
      start = EventPosition(epoch: newest.epoch, number: number)
    }
    let limit = Bool.random(using: &generator) ? Int.random(in: 1...6, using: &generator) : nil
    let buffering =
      limit.map { BufferingPolicy<Int>.bounded($0, whenFull: .dropOldest) } ?? .unbounded
    let names = topics.sorted()
    let kind = Int.random(in: 0..<3, using: &generator)
    let reader =
      switch kind {
      case 0: hub.reader(matching: names.map { TopicPattern($0)! }, from: .after(start)) {}
      case 1: hub.reader(for: names, from: .after(start), buffering: buffering) {}
      default: hub.reader(for: names, continuingAfter: start, buffering: buffering) {}
      }
    subscribers.append(
      Subscriber(
        reader: reader, topics: topics, start: start, isLimited: kind > 0 && limit != nil,
        skipped: skipped,
        name: "\(name), \(names) after \(start), limit \(limit ?? 0), kind \(kind)", last: start))
  }

  /// Reads and checks what one subscriber has; if that was everything, also that nothing is
  /// missing. Stops if the log does not answer.
  private mutating func read(_ index: Int, atMost most: Int) async {
    var count = 0
    while count < most {
      guard let element = subscribers[index].reader.nextIfAvailable() else {
        if subscribers[index].reader.position != nil { return checkAll(subscribers[index]) }
        if log.isHeld { return }
        await Task.yield()
        continue
      }
      count += 1
      var subscriber = subscribers[index]
      check(element, of: &subscriber)
      subscribers[index] = subscriber
    }
  }

  private mutating func check(
    _ element: PositionedTopicEvent<Int>, of subscriber: inout Subscriber
  ) {
    switch element {
    case .event(let event, at: let position):
      expect(position > subscriber.last, "order", position, subscriber)
      expect(topics[position] == event.topic, "topic", position, subscriber)
      expect(subscriber.topics.contains(event.topic), "unwanted", position, subscriber)
      subscriber.counts[position, default: 0] += 1
      subscriber.last = position
    case .missed(let range, of: let topic):
      expect(range.after != range.through, "empty", range.through, subscriber)
      let missed = topics.keys.filter { position in
        position > range.after && position <= range.through
          && (topic == nil || topics[position] == topic)
      }
      if let count = range.count {
        expect(count == missed.count, "count", range.through, subscriber)
        subscriber.missed += count
      }
      guard topic != nil else { return subscriber.gaps.append(range) }
      for position in missed {
        subscriber.counts[position, default: 0] += 1
        let mayBeKept = subscriber.isLimited || position <= subscriber.skipped
        expect(mayBeKept || !kept.contains(position), "retained", position, subscriber)
      }
    }
  }

  private mutating func checkAll(_ subscriber: Subscriber) {
    for (position, topic) in topics where subscriber.topics.contains(topic) {
      let expected = position > subscriber.start ? 1 : 0
      let count = subscriber.counts[position] ?? 0
      let isInGap = subscriber.gaps.contains { position > $0.after && position <= $0.through }
      expect(count == expected || count == 0 && isInGap, "once", position, subscriber)
    }
  }

  private mutating func expect(
    _ condition: Bool, _ what: String, _ position: EventPosition, _ subscriber: Subscriber
  ) {
    guard !condition else { return }
    isRight = false
    Issue.record("\(what) of \(position): \(subscriber.name)")
  }
}
