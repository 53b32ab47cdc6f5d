import MulticastTestSupport
import Testing

@testable import Multicast

@Suite(
  "What a subscriber of topics misses is reported in its place, and nothing that is retained is")
struct TopicGapTests: ExternalLogSuite {
  /// A hub that gets every event of the list with its number, such as `"a"` with the first one, and
  /// finds nothing in its log.
  private func make(
    _ topics: [String], keeping count: Int = 100, total: Retention<Int> = .all
  ) -> (Hub, ExternalLogWriter<Int>) {
    let (hub, writer) = make(GatedLog.unreachable, keeping: count, total: total)
    writer.begin(epoch: 7, after: 0)
    for (index, topic) in topics.enumerated() {
      writer.deliver(index + 1, to: topic, number: UInt64(index + 1))
    }
    return (hub, writer)
  }

  @Test("events that had left before the subscription began, and its topic ends", arguments: 0..<3)
  func leftBeforeTheEnd(later: Int) {
    let hub = Hub(retention: .last(1), total: .last(1), epoch: 7)
    hub.send(1, to: "a")
    hub.send(2, to: "b")
    let reader = hub.reader(for: ["a"], from: .after(at(0))) {}
    hub.finish("a")
    for event in 0..<later { hub.send(event, to: "a") }
    // Up to the end at most.
    #expect(read(reader) == ["missed a 7:0-7:\(later == 2 ? 2 : 1)"] && reader.end == .finished)
  }

  @Test("events that had left before the subscription began, and a gap")
  func leftBeforeAGap() async {
    let (hub, writer) = make(["c", "a"], total: .last(1))
    let reader = hub.reader(for: ["c"], from: .after(at(0))) {}
    writer.skip(through: 3)
    writer.deliver(4, to: "c", number: 4)
    writer.deliver(5, to: "a", number: 5)
    #expect(
      await readAnswers(reader) == ["missed c 7:0-7:2", "missed ? 7:2-7:3", "missed c 7:3-7:4"])
    withExtendedLifetime(hub) {}
  }

  @Test("events between two gaps, of which the first came before the topic had subscribers")
  func betweenGaps() async {
    let (hub, writer) = make([], keeping: 1)
    writer.skip(through: 2)
    writer.deliver(4, to: "c", number: 4)
    let reader = hub.reader(for: ["c"], from: .after(at(1))) {}
    writer.skip(through: 6)
    for number in 7...8 as ClosedRange<UInt64> {
      writer.deliver(Int(number), to: "c", number: number)
    }
    #expect(
      await readAnswers(reader) == [
        "missed c 7:1-7:2", "missed c 7:2-7:4", "missed ? 7:4-7:6", "missed c 7:6-7:7", "c 8 @8",
      ])
    withExtendedLifetime(hub) {}
  }

  @Test("a limit drops nothing of what the subscriber began with, also after the log has answered")
  func begunWith() async {
    let (hub, writer) = make(["a"], keeping: 2)
    let reader = hub.reader(
      for: ["a", "c"], from: .after(at(0)), buffering: .bounded(1, whenFull: .dropOldest)
    ) {}
    func deliver(_ numbers: ClosedRange<UInt64>) {
      for number in numbers { writer.deliver(Int(number), to: "c", number: number) }
    }
    deliver(2...4)
    var first = reader.nextIfAvailable()
    while first == nil {
      await Task.yield()
      first = reader.nextIfAvailable()
    }
    #expect(first.map(text) == "missed c 7:0-7:2")
    deliver(5...6)
    #expect(
      await readAnswers(reader) == ["missed c 7:2-7:4", "a 1 @1", "missed c 7:4-7:5", "c 6 @6"])
    withExtendedLifetime(hub) {}
  }

  @Test("what the hub retains from before a block is for later subscribers too")
  func beforeABlock() async {
    let (hub, writer) = make(["a", "a"])
    hub.withBlocked { _ = writer.deliver(3, to: "a", number: 3) }
    writer.deliver(4, to: "a", number: 4)
    let rest = ["missed ? 7:2-7:3", "a 4 @4"]
    let all = ["a 1 @1", "a 2 @2"] + rest
    #expect(await readAnswers(hub.reader(for: ["a"], from: .retained) {}) == all)
    #expect(await readAnswers(hub.reader(for: ["a"], from: .after(at(0))) {}) == all)
    #expect(await readAnswers(hub.reader(for: ["a"], from: .last(2)) {}) == ["a 2 @2"] + rest)
    #expect(await readAnswers(hub.reader(for: ["a", "b"], from: .last(1)) {}) == ["a 4 @4"])
    #expect(await readAnswers(hub.reader(matching: ["*"], from: .retained) {}) == all)
    let limited = hub.reader(
      for: ["a"], from: .retained, buffering: .bounded(50, whenFull: .dropOldest)
    ) {}
    #expect(await readAnswers(limited) == all)
    hub.finish()
    #expect(await texts(hub.events(for: "a", from: .retained)) == all)
  }

  @Test("up to a gap of the log, it alone says what there is for later subscribers")
  func beforeASkip() async {
    let (hub, writer) = make(["a", "a"])
    writer.skip(through: 3)
    writer.deliver(4, to: "a", number: 4)
    hub.withBlocked { _ = writer.deliver(5, to: "a", number: 5) }
    writer.deliver(6, to: "a", number: 6)
    let rest = ["a 4 @4", "missed ? 7:4-7:5", "a 6 @6"]
    #expect(
      await readAnswers(hub.reader(for: ["a"], from: .retained) {}) == ["missed a 7:0-7:3"] + rest)
    #expect(
      await readAnswers(hub.reader(matching: ["*"], from: .after(at(1))) {})
        == ["missed ? 7:1-7:3"] + rest)
  }

  @Test("a log that has the events of a block is asked first, and once")
  func askedFirst() async {
    let broker = Broker()
    let (hub, writer) = make(broker)
    writer.begin(epoch: 7, after: 0)
    for number in 1...4 as ClosedRange<UInt64> {
      await broker.append(Int(number), to: "a", number)
      if number == 3 { hub.block() }
      writer.deliver(Int(number), to: "a", number: number)
      if number == 3 { hub.unblock() }
    }
    let reader = hub.reader(for: ["a"], from: .after(at(1))) {}
    #expect(await readAnswers(reader) == ["a 2 @2", "a 3 @3", "a 4 @4"])
    await broker.setReachable(false)
    let other = hub.reader(for: ["a"], from: .after(at(1))) {}
    #expect(await readAnswers(other) == ["a 2 @2", "missed ? 7:2-7:3", "a 4 @4"])
    #expect(await broker.requests == [2...3, 2...3])
  }

  @Test("an event that was too large makes its topic lose one that a pattern had not read")
  func tooLarge() {
    let hub = TopicHub<String, Int>(retention: .bytes(5) { $0 }, epoch: 7)
    hub.send(1, to: "a")
    hub.send(9, to: "b")
    let reader = hub.reader(matching: [">"], from: .retained) {}
    hub.send(9, to: "a")
    #expect(read(reader) == ["missed ? 7:0-7:3"])
  }

  @Test("random events, gaps, limits and subscribers: everything is received or missed, once")
  func law() async {
    let seed = SplitMix64.runSeed
    for series in 0..<200 as Range<UInt64> {
      var run = GapRun(seed: seed &+ series &* 0x1_0000_0001)
      await run.steps(60)
      guard await run.end() else { return }
    }
  }
}

/// A hub with an external log that has nothing, and subscribers of which each is checked against the
/// list of all events.
private struct GapRun: ExternalLogSuite {
  private struct Subscriber {
    let reader: TopicReader<Int>
    let topics: Set<String>
    let start: UInt64
    let isLimited: Bool
    /// Up to here the log alone says what there is.
    let skipped: UInt64
    let name: String
    /// How often each event was received, or missed in a range of its topic.
    var counts: [UInt64: Int] = [:]
    /// The ranges of all topics.
    var gaps: [ClosedRange<UInt64>] = []
    var last: UInt64 = 0
  }

  private static let names = ["a", "b", "c"]

  private var generator: SplitMix64
  private let hub: Hub
  private let writer: ExternalLogWriter<Int>
  private let perTopic: Int
  private let total: Int
  private var topics: [UInt64: String] = [:]
  private var kept: [UInt64] = []
  private var newest: UInt64 = 0
  /// The end of the last gap of the log.
  private var skipped: UInt64 = 0
  private var subscribers: [Subscriber] = []
  private let name = "STRESS_SEED=\(SplitMix64.runSeed)"
  private var isRight = true

  init(seed: UInt64) {
    generator = SplitMix64(seed: seed)
    perTopic = [1, 2, 4, 20, 200].randomElement(using: &generator)!
    total = [2, 5, 20, 400].randomElement(using: &generator)!
    (hub, writer) = Self.makeHub(perTopic, total)
    writer.begin(epoch: 7, after: 0)
  }

  private static func makeHub(_ perTopic: Int, _ total: Int) -> (Hub, ExternalLogWriter<Int>) {
    var given: ExternalLogWriter<Int>?
    let hub = Hub(retention: .last(perTopic), total: .last(total)) { writer in
      given = writer
      return GatedLog.unreachable
    }
    return (hub, given!)
  }

  mutating func steps(_ count: Int) async {
    for _ in 0..<count where isRight {
      switch Int.random(in: 0..<14, using: &generator) {
      case 0, 1: subscribe()
      case 2, 3, 4:
        guard !subscribers.isEmpty else { continue }
        let index = Int.random(in: 0..<subscribers.count, using: &generator)
        await read(index, atMost: [1, 5, .max].randomElement(using: &generator)!)
      case 5:
        newest += UInt64.random(in: 1...3, using: &generator)
        if Bool.random(using: &generator) {
          writer.skip(through: newest)
          skipped = newest
        } else {
          hub.withBlocked { _ = writer.deliver(0, to: "a", number: newest) }
        }
      case 6: for _ in 0..<Int.random(in: 1..<70, using: &generator) { deliver() }
      default: deliver()
      }
    }
  }

  mutating func end() async -> Bool {
    for index in subscribers.indices { await read(index, atMost: .max) }
    return isRight
  }

  private mutating func deliver() {
    let topic = Self.names.randomElement(using: &generator)!
    newest += UInt64.random(in: 1...2, using: &generator)
    topics[newest] = topic
    kept.append(newest)
    let ofTopic = kept.filter { topics[$0] == topic }
    if ofTopic.count > perTopic { kept.removeAll { $0 == ofTopic[0] } }
    if kept.count > total { kept.removeFirst() }
    writer.deliver(Int(newest), to: topic, number: newest)
  }

  private mutating func subscribe() {
    let topics = Set((0..<3).map { _ in Self.names.randomElement(using: &generator)! })
    let start = Bool.random(using: &generator) ? newest : .random(in: 0...newest, using: &generator)
    let limit = Bool.random(using: &generator) ? Int.random(in: 1...6, using: &generator) : nil
    let buffering = limit.map { BufferingPolicy<Int>.bounded($0, whenFull: .dropOldest) }
    let names = topics.sorted()
    let reader: TopicReader<Int>
    let kind = Int.random(in: 0..<3, using: &generator)
    switch kind {
    case 0:
      reader = hub.reader(matching: names.map { TopicPattern($0)! }, from: .after(at(start))) {}
    case 1:
      reader = hub.reader(
        for: names, from: .after(at(start)), buffering: buffering ?? .unbounded
      ) {}
    default:
      reader = hub.reader(
        for: names, continuingAfter: at(start), buffering: buffering ?? .unbounded
      ) {}
    }
    subscribers.append(
      Subscriber(
        reader: reader, topics: topics, start: start, isLimited: kind > 0 && limit != nil,
        skipped: skipped,
        name: "\(name), \(names) after \(start), limit \(limit ?? 0), kind \(kind)"))
  }

  /// Reads and checks what one subscriber has; if that was everything, also that nothing is missing.
  private mutating func read(_ index: Int, atMost most: Int) async {
    var count = 0
    while count < most {
      guard let element = subscribers[index].reader.nextIfAvailable() else {
        if subscribers[index].reader.position != nil { return checkAll(index) }
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
      let number = position.number
      expect(number > max(subscriber.last, subscriber.start), "order", number, subscriber)
      expect(topics[number] == event.topic, "topic", number, subscriber)
      expect(subscriber.topics.contains(event.topic), "unwanted", number, subscriber)
      subscriber.counts[number, default: 0] += 1
      subscriber.last = number
    case .missed(let range, of: let topic):
      let numbers = range.after.number + 1...range.through.number
      let missed = topics.keys.filter {
        numbers.contains($0)
          && (topic == topics[$0] || topic == nil && subscriber.topics.contains(topics[$0]!))
      }
      if let count = range.count {
        expect(count == missed.count, "count", range.through.number, subscriber)
      }
      guard topic != nil else {
        subscriber.gaps.append(numbers)
        return
      }
      for number in missed {
        subscriber.counts[number, default: 0] += 1
        expect(
          subscriber.isLimited || number <= subscriber.skipped || !kept.contains(number),
          "retained", number, subscriber)
      }
    }
  }

  private mutating func checkAll(_ index: Int) {
    let subscriber = subscribers[index]
    for (number, topic) in topics where subscriber.topics.contains(topic) {
      let isIncluded = number > subscriber.start
      let count = subscriber.counts[number] ?? 0
      let isInGap = subscriber.gaps.contains { $0.contains(number) }
      expect(count == (isIncluded ? 1 : 0) || count == 0 && isInGap, "once", number, subscriber)
    }
  }

  private mutating func expect(
    _ condition: Bool, _ what: String, _ number: UInt64, _ subscriber: Subscriber
  ) {
    guard !condition else { return }
    isRight = false
    Issue.record("\(what) of \(number): \(subscriber.name)")
  }
}
