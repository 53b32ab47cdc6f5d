import MulticastTestSupport
import Testing

@testable import Multicast

/// An external log in memory, of which a test controls what the hub receives.
private actor Broker: ExternalLog {
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
    requests.append(position.number + 1...last)
    guard isReachable, position.number >= trimmed else { return nil }
    let all = elements.filter {
      $0.number > position.number && $0.number <= last && topics.contains($0.topic)
    }
    let page = Array(all.prefix(pageLimit))
    return ExternalPage(page, through: page.count < all.count ? page.last!.number : last)
  }

  func contains(_ position: EventPosition) -> Bool? {
    isReachable ? position.number <= elements.last?.number ?? 0 : nil
  }
}

private struct WeakBox {
  weak var object: AnyObject?

  init(_ object: AnyObject) { self.object = object }
}

@Suite(
  "A log that is elsewhere: positions are those of the log, and subscribers miss nothing it has")
struct ExternalLogTests {
  private typealias Hub = TopicHub<String, Int>

  private func make(
    _ broker: Broker, keeping count: Int = 100
  ) -> (Hub, ExternalLogWriter<Int>) {
    var given: ExternalLogWriter<Int>?
    let hub = Hub(retention: .last(count)) { writer in
      given = writer
      return broker
    }
    return (hub, given!)
  }

  private func at(_ number: UInt64, epoch: UInt64 = 7) -> EventPosition {
    EventPosition(epoch: epoch, number: number)
  }

  /// A short description of each element, until the hub finishes.
  private func texts(_ sequence: PositionedTopicSequence<Int>) async -> [String] {
    var texts: [String] = []
    for await element in sequence { texts.append(text(element)) }
    return texts
  }

  private func text(_ element: PositionedTopicEvent<Int>) -> String {
    switch element {
    case .event(let event, at: let position):
      "\(event.topic) \(event.event) @\(position.number)"
    case .missed(let range, of: let topic):
      "missed \(topic ?? "?") \(range.after.epoch):\(range.after.number)-"
        + "\(range.through.epoch):\(range.through.number)"
    }
  }

  @Test("the positions of the hub's events are those of the log")
  func positions() async {
    let (hub, writer) = make(Broker())
    #expect(hub.newestPosition == at(0, epoch: 0))
    #expect(writer.deliver(1, to: "a", number: 41) == nil)
    writer.begin(epoch: 7, after: 40)
    #expect(hub.newestPosition == at(40))
    let sequence = hub.events(for: ["a", "b"], from: .live)
    let plain = hub.events(for: "a")
    #expect(writer.deliver(1, to: "a", number: 42) == 2)
    #expect(writer.deliver(2, to: "b", number: 45) == 1)
    #expect(hub.newestPosition == at(45))
    hub.finish()
    #expect(await texts(sequence) == ["a 1 @42", "b 2 @45"])
    var events: [Int] = []
    for await event in plain { events.append(event) }
    #expect(events == [1])
    #expect(writer.deliver(3, to: "a", number: 46) == nil)
  }

  @Test("an event whose number is not higher than all before is ignored: a reader may begin again")
  func repeated() async {
    let (hub, writer) = make(Broker())
    writer.begin(epoch: 7, after: 0)
    let sequence = hub.events(for: "a", from: .retained)
    for number in [1, 2, 1, 2, 3] { writer.deliver(number, to: "a", number: UInt64(number)) }
    #expect(writer.deliver(3, to: "a", number: 3) == nil)
    hub.finish()
    #expect(await texts(sequence) == ["a 1 @1", "a 2 @2", "a 3 @3"])
  }

  @Test(
    "what the hub does not retain any more comes from the log, page by page",
    arguments: [1, 2, 100])
  func pages(limit: Int) async {
    let broker = Broker()
    await broker.setPageLimit(limit)
    let (hub, writer) = make(broker, keeping: 2)
    writer.begin(epoch: 7, after: 0)
    for number in 1...10 {
      let topic = number % 2 == 0 ? "b" : "a"
      await broker.append(number, to: topic, UInt64(number))
      writer.deliver(number, to: topic, number: UInt64(number))
    }
    let sequence = hub.events(for: "a", from: .after(at(1)))
    let both = hub.events(for: ["a", "b"], from: .after(at(2)))
    writer.deliver(11, to: "a", number: 11)
    await broker.append(11, to: "a", 11)
    hub.finish()
    #expect(await texts(sequence) == ["a 3 @3", "a 5 @5", "a 7 @7", "a 9 @9", "a 11 @11"])
    #expect(await texts(both) == (3...11).map { "\($0 % 2 == 0 ? "b" : "a") \($0) @\($0)" })
    #expect(await broker.requests.allSatisfy { $0.upperBound <= 10 })
  }

  @Test("a hub that begins late gives what came before its beginning from the log")
  func lateHub() async {
    let broker = Broker()
    for number in 1...5 { await broker.append(number, to: "a", UInt64(number)) }
    let (hub, writer) = make(broker)
    writer.begin(epoch: 7, after: 5)
    let sequence = hub.events(for: "a", from: .after(at(2), atMost: 9))
    hub.finish()
    #expect(await texts(sequence) == ["a 3 @3", "a 4 @4", "a 5 @5"])
  }

  @Test("what the log does not have either is reported as missed, for each topic its range")
  func goneEverywhere() async {
    let broker = Broker()
    let (hub, writer) = make(broker, keeping: 1)
    writer.begin(epoch: 7, after: 0)
    for number in 1...6 {
      let topic = number < 6 ? "a" : "b"
      await broker.append(number, to: topic, UInt64(number))
      writer.deliver(number, to: topic, number: UInt64(number))
    }
    await broker.trim(through: 3)
    let sequence = hub.events(for: ["a", "b"], from: .after(at(2)))
    let late = hub.events(for: "a", from: .after(at(3)))
    hub.finish()
    #expect(await texts(sequence) == ["missed a 7:2-7:4", "a 5 @5", "b 6 @6"])
    #expect(await texts(late) == ["a 4 @4", "a 5 @5"])
  }

  @Test("a page ends early, and then the log has lost the rest: the rest is missed")
  func lostMeanwhile() async {
    let broker = Broker()
    await broker.setPageLimit(1)
    let (hub, writer) = make(broker, keeping: 1)
    writer.begin(epoch: 7, after: 0)
    for number in 1...6 {
      await broker.append(number, to: "a", UInt64(number))
      writer.deliver(number, to: "a", number: UInt64(number))
    }
    var iterator = hub.events(for: "a", from: .after(at(1))).makeAsyncIterator()
    #expect(await iterator.next().map(text) == "a 2 @2")
    await broker.setReachable(false)
    #expect(await iterator.next().map(text) == "missed a 7:2-7:5")
    #expect(await iterator.next().map(text) == "a 6 @6")
  }

  @Test("events that the log does not have any more are missed, each gap once, at its place")
  func gaps() async {
    let broker = Broker()
    let (hub, writer) = make(broker)
    writer.begin(epoch: 7, after: 0)
    writer.deliver(1, to: "a", number: 1)
    let slow = hub.events(for: "a", from: .retained)
    let pattern = hub.events(matching: ["*"], from: .retained)
    writer.skip(through: 4)
    writer.skip(through: 7)
    writer.skip(through: 7)
    writer.deliver(8, to: "a", number: 8)
    let late = hub.events(for: "a", from: .after(at(5)))
    let later = hub.events(for: "a", from: .after(at(7)))
    await broker.trim(through: 7)
    hub.finish()
    let all = ["a 1 @1", "missed ? 7:1-7:4", "missed ? 7:4-7:7", "a 8 @8"]
    #expect(await texts(slow) == all)
    #expect(await texts(pattern) == all)
    #expect(await texts(late) == ["missed a 7:5-7:7", "a 8 @8"])
    #expect(await texts(later) == ["a 8 @8"])
  }

  @Test(
    "what a log has removed before a gap is not for new subscribers, though the hub retained it")
  func removed() async {
    let broker = Broker()
    let (hub, writer) = make(broker)
    writer.begin(epoch: 7, after: 0)
    for number in 1...3 { writer.deliver(number, to: "a", number: UInt64(number)) }
    await broker.append(2, to: "a", 2)  // 1 and 3 were removed.
    let live = hub.events(for: "a", from: .live)
    writer.skip(through: 4)
    writer.deliver(5, to: "a", number: 5)
    let new = hub.events(for: "a", from: .after(at(0)))
    hub.finish()
    #expect(await texts(new) == ["a 2 @2", "a 5 @5"])
    #expect(await texts(live) == ["missed ? 7:3-7:4", "a 5 @5"])
  }

  @Test("a log that answers late: the client receives every event since its subscription began")
  func lateAnswer() async {
    let (asked, answer) = (AsyncGate(), AsyncGate())
    struct Slow: ExternalLog {
      let asked: AsyncGate
      let answer: AsyncGate
      func page(
        of topics: [String], after position: EventPosition, through last: UInt64
      ) async -> ExternalPage<Int>? { nil }
      func contains(_ position: EventPosition) async -> Bool? {
        asked.open()
        await answer.wait()
        return position.number < 9
      }
    }
    var given: ExternalLogWriter<Int>?
    let hub = Hub(retention: .last(100)) { writer in
      given = writer
      return Slow(asked: asked, answer: answer)
    }
    let writer = given!
    writer.begin(epoch: 7, after: 0)
    writer.deliver(1, to: "a", number: 1)
    let (wrong, right) = (
      hub.events(for: "a", from: .after(at(9))), hub.events(for: "a", from: .after(at(3)))
    )
    let received = [Task { await texts(wrong) }, Task { await texts(right) }]
    await asked.wait()
    for number in 2...4 { writer.deliver(number, to: "a", number: UInt64(number)) }
    hub.finish()
    answer.open()
    #expect(await received[0].value == ["missed ? 7:9-7:1", "a 2 @2", "a 3 @3", "a 4 @4"])
    #expect(await received[1].value == ["a 4 @4"])
  }

  @Test("a gap wakes a subscriber that waits")
  func gapWakes() async {
    let (hub, writer) = make(Broker())
    writer.begin(epoch: 7, after: 0)
    let sequence = hub.events(for: "a", from: .live)
    let task = Task {
      var iterator = sequence.makeAsyncIterator()
      return await iterator.next()
    }
    writer.skip(through: 3)
    #expect(await task.value.map(text) == "missed ? 7:0-7:3")
    hub.finish()
  }

  @Test("very many gaps need no more memory: a subscriber that is far behind receives one range")
  func manyGaps() async {
    let (hub, writer) = make(Broker())
    writer.begin(epoch: 7, after: 0)
    let sequence = hub.events(for: "a", from: .live)
    for number in 1...1_000 { writer.skip(through: UInt64(number)) }
    writer.deliver(1, to: "a", number: 1_001)
    hub.finish()
    let received = await texts(sequence)
    #expect(received.first == "missed ? 7:0-7:744" && received.last == "a 1 @1001")
    #expect(received.count == 1 + 256 + 1)
  }

  @Test("after a new beginning all subscribers miss what was between, and nothing old is retained")
  func beginsAnew() async {
    let (hub, writer) = make(Broker())
    writer.begin(epoch: 7, after: 0)
    writer.deliver(1, to: "a", number: 1)
    var reading = hub.events(for: "a", from: .retained).makeAsyncIterator()
    #expect(await reading.next().map(text) == "a 1 @1")
    let behind = hub.events(for: "a", from: .retained)
    writer.begin(epoch: 8, after: 0)
    #expect(hub.retainedAmount.events == 0 && hub.newestPosition == at(0, epoch: 8))
    #expect(await reading.next().map(text) == "missed ? 7:1-8:0")
    writer.deliver(2, to: "a", number: 1)
    #expect(await reading.next().map(text) == "a 2 @1")
    let old = hub.events(for: "a", from: .after(at(1)))
    hub.finish()
    #expect(await texts(behind) == ["missed ? 7:0-8:0", "a 2 @1"])
    #expect(await texts(old) == ["missed ? 7:1-8:0", "a 2 @1"])
  }

  @Test("subscribers may come before the log has begun: they receive what they missed from the log")
  func beforeTheBeginning() async {
    let broker = Broker()
    for number in 1...5 { await broker.append(number, to: "a", UInt64(number)) }
    let (hub, writer) = make(broker)
    let live = hub.events(for: "a", from: .live)
    let all = hub.events(for: "a", from: .retained)
    let missing = hub.events(for: "a", from: .after(at(3)))
    let complete = hub.events(for: "a", from: .after(at(5)))
    let unnamed = hub.events(for: "a", from: .after(at(4, epoch: 0)))
    let foreign = hub.events(for: "a", from: .after(at(4, epoch: 6)))
    let wrong = hub.events(for: "a", from: .after(at(9)))
    let waiting = Task {
      var iterator = live.makeAsyncIterator()
      return await iterator.next()
    }
    writer.begin(epoch: 7, after: 5)
    await broker.append(6, to: "a", 6)
    writer.deliver(6, to: "a", number: 6)
    hub.finish()
    #expect(await waiting.value.map(text) == "a 6 @6")
    #expect(await texts(all) == ["a 6 @6"])
    #expect(await texts(missing) == ["a 4 @4", "a 5 @5", "a 6 @6"])
    #expect(await texts(complete) == ["a 6 @6"])
    #expect(await texts(unnamed) == ["a 5 @5", "a 6 @6"])
    #expect(await texts(foreign) == ["missed ? 6:4-7:5", "a 6 @6"])
    #expect(await texts(wrong) == ["missed ? 7:9-7:5", "a 6 @6"])
  }

  @Test("a client that is ahead, because another server was faster, receives no event twice")
  func ahead() async {
    let broker = Broker()
    for number in 1...6 { await broker.append(number, to: "a", UInt64(number)) }
    let (hub, writer) = make(broker)
    writer.begin(epoch: 7, after: 0)
    writer.deliver(1, to: "a", number: 1)
    let sequence = hub.events(for: "a", from: .after(at(4)))
    let received = Task { await texts(sequence) }
    for number in 2...6 { writer.deliver(number, to: "a", number: UInt64(number)) }
    hub.finish()
    #expect(await received.value == ["a 5 @5", "a 6 @6"])
    #expect(await broker.requests.isEmpty)
  }

  @Test("a client that is ahead misses of a gap only what it does not have")
  func aheadOfAGap() async {
    let broker = Broker()
    await broker.append(7, to: "a", 7)
    let (hub, writer) = make(broker)
    writer.begin(epoch: 7, after: 0)
    let sequence = hub.events(for: "a", from: .after(at(7)))
    writer.skip(through: 5)
    writer.skip(through: 9)
    writer.deliver(10, to: "a", number: 10)
    hub.finish()
    #expect(await texts(sequence) == ["missed ? 7:7-7:9", "a 10 @10"])
  }

  @Test("a position without an event is refused, and the client receives what is new")
  func wrongPosition() async {
    let broker = Broker()
    await broker.append(1, to: "a", 1)
    let (hub, writer) = make(broker)
    writer.begin(epoch: 7, after: 0)
    writer.deliver(1, to: "a", number: 1)
    var iterator = hub.events(for: "a", from: .after(at(9))).makeAsyncIterator()
    #expect(await iterator.next().map(text) == "missed ? 7:9-7:1")
    writer.deliver(2, to: "a", number: 2)
    #expect(await iterator.next().map(text) == "a 2 @2")
    hub.finish()
  }

  @Test("while the log cannot be reached, a position is accepted until the log refuses it")
  func claims() async {
    let broker = Broker()
    await broker.setReachable(false)
    let (hub, writer) = make(broker)
    writer.begin(epoch: 7, after: 0)
    writer.deliver(1, to: "a", number: 1)
    let right = hub.events(for: "a", from: .after(at(3)))
    let received = Task { await texts(right) }
    var wrong = hub.events(for: "a", from: .after(at(4))).makeAsyncIterator()
    writer.refusePositions(after: 3)
    #expect(await wrong.next().map(text) == "missed ? 7:4-7:1")
    // Named after the refusal: another server may have got so far since.
    let later = hub.events(for: "a", from: .after(at(4)))
    // A later statement that there are more events does not undo the first.
    writer.refusePositions(after: 9)
    for number in 2...4 { writer.deliver(number, to: "a", number: UInt64(number)) }
    hub.finish()
    #expect(await received.value == ["a 4 @4"])
    #expect(await texts(later) == [])
    for number in 2...4 { #expect(await wrong.next().map(text) == "a \(number) @\(number)") }
  }

  @Test("events that come while the hub is blocked are missed, in one range")
  func blocked() async {
    let (hub, writer) = make(Broker())
    writer.begin(epoch: 7, after: 0)
    let sequence = hub.events(for: "a", from: .live)
    writer.deliver(1, to: "a", number: 1)
    hub.block()
    for number in 2...9 { #expect(writer.deliver(number, to: "a", number: UInt64(number)) == 0) }
    hub.unblock()
    writer.deliver(10, to: "a", number: 10)
    hub.finish()
    #expect(await texts(sequence) == ["a 1 @1", "missed ? 7:1-7:9", "a 10 @10"])
  }

  @Test("a cancelled task ends while it waits for a page")
  func cancelled() async {
    let gate = AsyncGate()
    struct Stalled: ExternalLog {
      let gate: AsyncGate
      func page(
        of topics: [String], after position: EventPosition, through last: UInt64
      ) async -> ExternalPage<Int>? {
        await gate.wait()
        return nil
      }
      func contains(_ position: EventPosition) async -> Bool? { true }
    }
    var given: ExternalLogWriter<Int>?
    let hub = Hub(retention: .last(1)) { writer in
      given = writer
      return Stalled(gate: gate)
    }
    let writer = given!
    writer.begin(epoch: 7, after: 0)
    for number in 1...3 { writer.deliver(number, to: "a", number: UInt64(number)) }
    let sequence = hub.events(for: "a", from: .after(at(0)))
    let task = Task {
      var iterator = sequence.makeAsyncIterator()
      return await iterator.next()
    }
    task.cancel()
    gate.open()
    #expect(await task.value == nil)
    #expect(hub.subscriberCount(for: "a") == 0)
  }

  @Test("a writer does not keep the hub, and does nothing without it")
  func writerWithoutHub() {
    var made: (Hub, ExternalLogWriter<Int>)? = make(Broker())
    let hub = WeakBox(made!.0)
    let writer = made!.1
    made = nil
    #expect(hub.object == nil)
    writer.begin(epoch: 7, after: 0)
    writer.skip(through: 3)
    writer.refusePositions(after: 1)
    #expect(writer.deliver(1, to: "a", number: 4) == nil)
  }
}
