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

  @Test("an event that patterns began with leaves, though a later one had left before")
  func leftBeforeAnEarlierOne() async {
    for start in [.retained, .last(5)] as [SubscriptionStart] {
      // The size of an event is its value.
      let hub = Hub(retention: .bytes(4) { $0 }, total: .last(2), epoch: 7)
      hub.send(1, to: "a")
      hub.send(9, to: "b")  // Too large: `b` is not kept.
      func patterns() -> TopicReader<Int> {
        hub.reader(matching: [">"], from: start) {}
      }
      let (first, second) = (patterns(), patterns())
      #expect(read(first) == ["a 1 @1"])
      for _ in 0..<2 { hub.send(1, to: "c") }
      // Only `a` is missed, but nothing is known of it any more.
      #expect(read(second) == ["missed ? 7:0-7:2", "c 1 @3", "c 1 @4"])
      #expect(read(first) == ["c 1 @3", "c 1 @4"])
    }
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
    #expect(await text(nextAnswer(reader)) == "missed c 7:0-7:2")
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

  @Test("a log is asked for what came during a block that goes on after the subscription")
  func askedForAPartOfABlock() async {
    let broker = Broker()
    let (hub, writer) = make(broker)
    writer.begin(epoch: 7, after: 0)
    var readers: [TopicReader<Int>] = []
    for number in 1...5 as ClosedRange<UInt64> {
      if number == 2 { hub.block() }
      if number == 4 {
        readers.append(hub.reader(for: ["a"], from: .after(at(0))) {})
        readers.append(hub.reader(matching: ["*"], from: .after(at(2))) {})
      }
      await broker.append(Int(number), to: "a", number)
      writer.deliver(Int(number), to: "a", number: number)
    }
    hub.unblock()
    let rest = ["a 3 @3", "missed ? 7:3-7:5"]
    #expect(await readAnswers(readers[0]) == ["a 1 @1", "a 2 @2"] + rest)
    #expect(await readAnswers(readers[1]) == rest)
  }

  @Test("a range of which the log had a part has no count")
  func partlyThere() async {
    let broker = Broker()
    await broker.setPageLimit(1)
    let (hub, writer) = make(broker, keeping: 2)
    writer.begin(epoch: 7, after: 0)
    for number in 1...2 as ClosedRange<UInt64> {
      await broker.append(Int(number), to: "a", number)
      writer.deliver(Int(number), to: "a", number: number)
    }
    hub.withBlocked { _ = writer.deliver(3, to: "a", number: 3) }
    let reader = hub.reader(for: ["a"], from: .retained) {}
    #expect(await text(nextAnswer(reader)) == "a 1 @1")
    await broker.setReachable(false)
    for number in 4...6 as ClosedRange<UInt64> {
      writer.deliver(Int(number), to: "a", number: number)
    }
    guard case .missed(let range, of: "a") = await nextAnswer(reader) else {
      Issue.record("the second event was not reported")
      return
    }
    #expect(range.after == at(1) && range.count == nil)
    #expect(hub.droppedEvents == 0)
    #expect(await readAnswers(reader).suffix(2) == ["a 5 @5", "a 6 @6"])
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

  @Test("a gap before what had left of a topic, which leaves more: the range has the exact count")
  func gapBeforeWhatHadLeft() async {
    let (hub, writer) = make(["a"], keeping: 2)
    writer.skip(through: 2)
    for number in 3...5 { writer.deliver(number, to: "b", number: UInt64(number)) }
    hub.withBlocked { _ = writer.deliver(6, to: "b", number: 6) }
    writer.deliver(7, to: "b", number: 7)
    let reader = hub.reader(for: ["a", "b"], from: .retained) {}
    writer.deliver(8, to: "b", number: 8)
    let elements = [
      await nextAnswer(reader), await nextAnswer(reader), await nextAnswer(reader),
    ]
    #expect(
      elements == [
        .missed(MissedEvents(after: at(0), through: at(2), count: nil), of: nil),
        .missed(MissedEvents(after: at(4), through: at(5), count: 1), of: "b"),
        .missed(MissedEvents(after: at(5), through: at(6), count: nil), of: nil),
      ])
    #expect(read(reader) == ["b 7 @7", "b 8 @8"] && hub.droppedEvents == 1)
  }
}
