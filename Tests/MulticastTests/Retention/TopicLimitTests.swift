import MulticastTestSupport
import Testing

@testable import Multicast

@Suite("A slow subscriber with positions: what waits is limited, and what it misses is counted")
struct TopicLimitTests: ExternalLogSuite {
  private typealias Hub = TopicHub<String, Int>

  /// A short description of each element, until the sequence ends.
  private func texts(_ sequence: PositionedTopicSequence<Int>) async -> [String] {
    var iterator = sequence.makeAsyncIterator()
    return await texts(&iterator)
  }

  private func texts(_ iterator: inout PositionedTopicSequence<Int>.Iterator) async -> [String] {
    var texts: [String] = []
    while let element = await iterator.next() { texts.append(text(element)) }
    return texts
  }

  private func texts(_ reader: TopicReader<Int>) -> [String] {
    var texts: [String] = []
    while let element = reader.nextIfAvailable() { texts.append(text(element)) }
    return texts
  }

  private func text(_ element: PositionedTopicEvent<Int>) -> String {
    switch element {
    case .event(let event, at: let position):
      "\(event.topic) \(event.event) @\(position.number)"
    case .missed(let range, of: let topic):
      "\(topic ?? "?") misses \(range.count.map(String.init) ?? "some") "
        + "\(range.after.number)-\(range.through.number)"
    }
  }

  @Test("the oldest are dropped: the subscriber receives the range and the exact count")
  func dropsOldest() async {
    let hub = Hub(retention: .last(100))
    let two = hub.events(for: "a", from: .live, buffering: .bounded(2, whenFull: .dropOldest))
    let latest = hub.events(for: "a", from: .live, buffering: .latest)
    let all = hub.events(for: "a", from: .live)
    for number in 1...10 { hub.send(number, to: number % 2 == 0 ? "a" : "b") }
    let counts = hub.statistics(for: "a")
    #expect(counts?.pending == 2 + 1 && counts?.dropped == 3 + 4 && counts?.retained == 5)
    #expect(counts?.subscribers == 3)
    #expect(hub.statistics["b"]?.retained == 5)
    hub.finish()
    #expect(await texts(two) == ["a misses 3 0-7", "a 8 @8", "a 10 @10"])
    #expect(await texts(latest) == ["a misses 4 0-9", "a 10 @10"])
    #expect(await texts(all) == [2, 4, 6, 8, 10].map { "a \($0) @\($0)" })
    #expect(hub.droppedEvents == 7)
  }

  @Test("of several topics, as many wait together as the limit says")
  func severalTopics() async {
    let hub = Hub(retention: .last(100))
    let sequence = hub.events(
      for: ["a", "b"], from: .live, buffering: .bounded(3, whenFull: .dropOldest))
    for number in 1...8 { hub.send(number, to: number < 6 ? "a" : "b") }
    #expect(hub.statistics(for: "a")?.dropped == 5 && hub.statistics(for: "b")?.dropped == 0)
    hub.finish()
    #expect(await texts(sequence) == ["a misses 5 0-5", "b 6 @6", "b 7 @7", "b 8 @8"])
  }

  @Test("what leaves the log before a slow subscriber has read it is counted too")
  func trimmed() async {
    let hub = Hub(retention: .last(2))
    let sequence = hub.events(
      for: "a", from: .live, buffering: .bounded(5, whenFull: .dropOldest))
    let unlimited = hub.events(for: "a", from: .live)
    var (first, second) = (sequence.makeAsyncIterator(), unlimited.makeAsyncIterator())
    hub.send(1, to: "a")
    #expect(await first.next().map(text) == "a 1 @1")
    #expect(await second.next().map(text) == "a 1 @1")
    for number in 2...5 { hub.send(number, to: "a") }
    #expect(await first.next().map(text) == "a misses 2 1-3")
    #expect(await second.next().map(text) == "a misses 2 1-3")
    hub.finish()
    #expect(await texts(&first) == ["a 4 @4", "a 5 @5"])
    #expect(hub.droppedEvents == 4)
  }

  @Test("what a limit drops and what left the log are one range, with the exact count")
  func droppedAndTrimmed() async {
    let hub = Hub(retention: .last(1))
    let sequence = hub.events(
      for: ["a", "b", "c"], from: .live, buffering: .bounded(2, whenFull: .dropOldest))
    var iterator = sequence.makeAsyncIterator()
    hub.send(1, to: "a")
    #expect(await iterator.next().map(text) == "a 1 @1")
    // The limit drops 2 and 3; 5 leaves because of 6.
    for (index, topic) in ["a", "b", "c", "a", "a"].enumerated() { hub.send(index + 2, to: topic) }
    hub.finish()
    let texts = await texts(&iterator)
    #expect(Set(texts.prefix(2)) == ["a misses 2 1-5", "b misses 1 1-3"])
    #expect(texts.dropFirst(2) == ["c 4 @4", "a 6 @6"])
    #expect(hub.droppedEvents == 3)
  }

  @Test(
    "disconnect: the subscriber gets what waited when the limit was exceeded, and the sequence ends"
  )
  func disconnects() async {
    let hub = Hub(retention: .last(100))
    let sequence = hub.events(
      for: "a", from: .live, buffering: .bounded(3, whenFull: .disconnect))
    let exact = hub.events(for: "a", from: .live, buffering: .bounded(9, whenFull: .disconnect))
    for number in 1...9 { hub.send(number, to: "a") }
    var iterator = sequence.makeAsyncIterator()
    #expect(await texts(&iterator) == ["a 1 @1", "a 2 @2", "a 3 @3"])
    #expect(iterator.end == .disconnected)
    #expect(await iterator.next() == nil)
    #expect(hub.subscriberCount(for: "a") == 1)
    hub.finish()
    var other = exact.makeAsyncIterator()
    #expect(await texts(&other).count == 9)
    #expect(other.end == .finished)
  }

  @Test("disconnect, before the hub finishes: the end is not that of the hub")
  func disconnectsBeforeFinish() async {
    let hub = Hub(retention: .last(100))
    let sequence = hub.events(
      for: "a", from: .live, buffering: .bounded(3, whenFull: .disconnect))
    let reader = hub.reader(
      for: ["a"], from: .live, buffering: .bounded(3, whenFull: .disconnect)
    ) {}
    var iterator = sequence.makeAsyncIterator()
    for number in 1...9 { hub.send(number, to: "a") }
    hub.finish()
    #expect(await texts(&iterator) == ["a 1 @1", "a 2 @2", "a 3 @3"])
    #expect(iterator.end == .disconnected)
    #expect(reader.nextIfAvailable().map(text) == "a 1 @1")
    while reader.nextIfAvailable() != nil {}
    #expect(reader.end == .disconnected)
  }

  @Test("a range ends at a gap of an external log, with the exact number of events up to there")
  func gaps() {
    func received(_ topics: [String], keeping count: Int, limit: Int, before last: Int) -> [String]
    {
      let (hub, writer) = make(GatedLog.unreachable, keeping: count)
      writer.begin(epoch: 7, after: 0)
      let reader = hub.reader(
        for: topics, from: .live, buffering: .bounded(limit, whenFull: .dropOldest)
      ) {}
      #expect(reader.nextIfAvailable() == nil)
      for number in 1...last { writer.deliver(number, to: "a", number: UInt64(number)) }
      writer.skip(through: 10)
      for number in 11...13 { writer.deliver(number, to: "a", number: UInt64(number)) }
      let texts = texts(reader)
      #expect(hub.droppedEvents == last + 3 - texts.count { $0.contains("@") })
      return texts
    }
    #expect(
      received(["a", "b"], keeping: 100, limit: 2, before: 1)
        == ["a misses 1 0-1", "? misses some 1-10", "a misses 1 10-11", "a 12 @12", "a 13 @13"])
    #expect(
      received(["a"], keeping: 2, limit: 10, before: 3)
        == ["a misses 3 0-3", "? misses some 3-10", "a misses 1 10-11", "a 12 @12", "a 13 @13"])
    #expect(
      received(["a"], keeping: 2, limit: 1, before: 3)
        == ["a misses 3 0-3", "? misses some 3-10", "a misses 2 10-12", "a 13 @13"])
  }

  @Test("after a new beginning of an external log, only what came since is counted")
  func beginsAnew() {
    let (hub, writer) = make(GatedLog.unreachable, keeping: 2)
    writer.begin(epoch: 6, after: 0)
    let reader = hub.reader(
      for: ["a"], from: .live, buffering: .bounded(9, whenFull: .dropOldest)
    ) {}
    #expect(reader.nextIfAvailable() == nil)
    for number in 1...3 { writer.deliver(number, to: "a", number: UInt64(number)) }
    writer.begin(epoch: 7, after: 0)
    for number in 1...4 { writer.deliver(number, to: "a", number: UInt64(number)) }
    #expect(texts(reader) == ["? misses some 0-0", "a misses 2 0-2", "a 3 @3", "a 4 @4"])
  }

  @Test("events, gaps and reads in any order: each event is received or in one range, and counted")
  func rangesLaw() {
    var generator = SplitMix64(seed: SplitMix64.runSeed)
    for _ in 0..<500 {
      let (hub, writer) = make(
        GatedLog.unreachable, keeping: Int.random(in: 1...4, using: &generator))
      writer.begin(epoch: 7, after: 0)
      let limit = Int.random(in: 1...6, using: &generator)
      let reader = hub.reader(
        for: ["a", "b"], from: .live, buffering: .bounded(limit, whenFull: .dropOldest)
      ) {}
      // What is missing before the first read is requested from the external log, and not counted.
      #expect(reader.nextIfAvailable() == nil)
      var (newest, end) = (UInt64(0), UInt64.max)
      var sent: [String: [UInt64]] = ["a": [], "b": [], "c": []]
      var elements: [PositionedTopicEvent<Int>] = []
      for step in 0..<80 {
        switch Int.random(in: 0..<12, using: &generator) {
        case 0..<8:
          newest += UInt64.random(in: 1...2, using: &generator)
          let topic = ["a", "b", "c"].randomElement(using: &generator)!
          writer.deliver(0, to: topic, number: newest)
          sent[topic]!.append(newest)
        case 8:
          newest += UInt64.random(in: 1...3, using: &generator)
          writer.skip(through: newest)
        default:
          for _ in 0..<Int.random(in: 1...5, using: &generator) {
            if let element = reader.nextIfAvailable() { elements.append(element) }
          }
        }
        if step == 70 {
          end = newest
          for topic in ["a", "b"] { hub.finish(topic) }
        }
      }
      while let element = reader.nextIfAvailable() { elements.append(element) }
      check(elements, sent.mapValues { $0.filter { $0 <= end } }, hub.droppedEvents)
      #expect(reader.end == .finished)
    }
  }

  /// Checks that each event is in `elements` once, as itself or in a range of its topic.
  private func check(
    _ elements: [PositionedTopicEvent<Int>], _ sent: [String: [UInt64]], _ dropped: Int
  ) {
    var seen: [String: [UInt64]] = ["a": [], "b": []]
    var (last, counted) = (UInt64(0), 0)
    for element in elements {
      switch element {
      case .event(let event, at: let position):
        #expect(position.number > last)
        last = position.number
        seen[event.topic]!.append(position.number)
      case .missed(let range, of: let topic?):
        let missed = sent[topic]!.filter {
          $0 > range.after.number && $0 <= range.through.number
        }
        #expect(range.count == missed.count && !missed.isEmpty)
        seen[topic]! += missed
        counted += missed.count
      case .missed(let range, of: nil):
        #expect(range.after.number >= last && range.through.number > range.after.number)
        last = range.through.number
      }
    }
    for topic in ["a", "b"] { #expect(seen[topic]!.sorted() == sent[topic]!) }
    #expect(dropped == counted)
  }

  @Test("what left before the subscription is not counted with what a limit drops")
  func leftBeforeTheSubscription() async {
    let hub = Hub(retention: .last(1), total: .last(1))
    hub.send(1, to: "a")
    hub.send(2, to: "b")
    let sequence = hub.events(
      for: "a", from: .after(EventPosition(epoch: hub.newestPosition.epoch, number: 0)),
      buffering: .latest)
    hub.send(3, to: "a")
    hub.send(4, to: "a")
    hub.finish()
    #expect(await texts(sequence) == ["a misses some 0-3", "a 4 @4"])
    #expect(hub.droppedEvents == 0)
  }

  @Test("disconnect, when the first that waited have left the log: no event after a gap")
  func disconnectsAfterTrimming() async {
    let hub = Hub(retention: .last(4))
    let sequence = hub.events(
      for: "a", from: .live, buffering: .bounded(3, whenFull: .disconnect))
    for number in 1...9 { hub.send(number, to: "a") }
    var iterator = sequence.makeAsyncIterator()
    #expect(hub.droppedEvents == 9)
    #expect(await texts(&iterator).isEmpty)
    #expect(iterator.end == .disconnected && hub.droppedEvents == 9)
  }

  @Test("what a subscriber begins with does not count as waiting")
  func replay() async {
    let hub = Hub(retention: .last(100))
    for number in 1...10 { hub.send(number, to: "a") }
    let sequence = hub.events(
      for: "a", from: .retained, buffering: .bounded(2, whenFull: .dropOldest))
    hub.finish()
    #expect(await texts(sequence) == (1...10).map { "a \($0) @\($0)" })
    #expect(hub.droppedEvents == 0)
  }

  @Test("a subscriber may begin after a position, with at most so many events")
  func atMost() async {
    let hub = Hub(retention: .last(100))
    for number in 1...10 { hub.send(number, to: number % 2 == 0 ? "a" : "b") }
    let epoch = hub.newestPosition.epoch
    func sequence(_ number: UInt64, _ limit: Int, _ topics: String...)
      -> PositionedTopicSequence<Int>
    {
      hub.events(
        for: topics, from: .after(EventPosition(epoch: epoch, number: number), atMost: limit))
    }
    let (cut, none, whole) = (sequence(0, 2, "a"), sequence(3, 0, "a"), sequence(4, 3, "a"))
    let both = sequence(0, 3, "a", "b")
    hub.finish()
    #expect(await texts(cut) == ["a misses some 0-7", "a 8 @8", "a 10 @10"])
    #expect(await texts(none) == ["a misses some 3-10"])
    #expect(await texts(whole) == ["a 6 @6", "a 8 @8", "a 10 @10"])
    #expect(await texts(both) == ["? misses some 0-7", "a 8 @8", "b 9 @9", "a 10 @10"])
  }

  @Test("of one hub, too: at most so many events after a position")
  func atMostOfOneHub() async {
    let hub = EventHub<Int>(retention: .last(100), epoch: 1)
    for number in 1...10 { hub.send(number) }
    let start = EventPosition(epoch: 1, number: 2)
    let cut = hub.events(from: .after(start, atMost: 3))
    let whole = hub.events(from: .after(start, atMost: 8))
    hub.finish()
    var elements: [PositionedEvent<Int>] = []
    for await element in cut { elements.append(element) }
    #expect(
      elements.first == .missed(.init(after: start, through: .init(epoch: 1, number: 7))))
    #expect(elements.compactMap(\.event) == [8, 9, 10])
    var events: [Int] = []
    for await element in whole { events.append(element.event ?? 0) }
    #expect(events == Array(3...10))
  }

  @Test("a cancelled subscriber leaves its count, and a topic without events goes with it")
  func cancelled() async {
    let hub = Hub(retention: .last(100), total: .last(3))
    var sequence: PositionedTopicSequence<Int>? = hub.events(
      for: "a", from: .live, buffering: .latest)
    for number in 1...3 { hub.send(number, to: "a") }
    #expect(hub.statistics(for: "a")?.dropped == 2)
    sequence = nil
    #expect(hub.droppedEvents == 2)
    #expect(hub.statistics(for: "a")?.dropped == 2 && hub.statistics(for: "a")?.pending == 0)
    for number in 4...6 { hub.send(number, to: "b") }
    #expect(hub.statistics(for: "a") == nil && hub.statistics.count == 1)
    #expect(sequence == nil)
  }

  @Test("senders on many threads: each event of a topic is received or counted as missed")
  func law() async {
    for limit in [1, 7, 64] {
      let tracker = LifetimeTracker()
      do {
        let hub = TopicHub<String, RecordingObserver>(retention: .last(100))
        let topics = ["a", "b", "c"]
        let sequences = topics.map {
          hub.events(for: $0, from: .live, buffering: .bounded(limit, whenFull: .dropOldest))
        }
        let readers = sequences.map { sequence in
          Task {
            var (received, missed, last) = (0, 0, UInt64(0))
            for await element in sequence {
              switch element {
              case .event(_, at: let position):
                #expect(position.number > last)
                last = position.number
                received += 1
              case .missed(let range, of: _):
                #expect(range.count != nil && range.through.number > last)
                missed += range.count ?? 0
              }
              if received % 50 == 0 { await Task.yield() }
            }
            return (received, missed)
          }
        }
        await onOwnThread {
          runThreads(3) { thread in
            for number in 0..<3_000 {
              hub.send(RecordingObserver(0, tracker: tracker), to: topics[(number + thread) % 3])
              if number % 100 == 0 { _ = hub.statistics }
            }
          }
        }
        hub.finish()
        var allMissed = 0
        for reader in readers {
          let (received, missed) = await reader.value
          #expect(received + missed == 3_000)
          allMissed += missed
        }
        #expect(hub.droppedEvents == allMissed)
      }
      await eventually { tracker.live == 0 }
    }
  }
}
