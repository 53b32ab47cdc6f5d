import Testing

@testable import Multicast

@Suite(
  "A log that is elsewhere: positions are those of the log, and subscribers miss nothing it has")
struct ExternalLogTests: ExternalLogSuite {
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

  @Test("a quiet topic beside a busy one: what came from the log does not come from the hub again")
  func quietTopic() async {
    let broker = Broker()
    let (hub, writer) = make(broker, keeping: 2)
    writer.begin(epoch: 7, after: 0)
    for number in 1...6 {
      let topic = number == 2 ? "quiet" : "busy"
      await broker.append(number, to: topic, UInt64(number))
      writer.deliver(number, to: topic, number: UInt64(number))
    }
    let sequence = hub.events(for: ["quiet", "busy"], from: .after(at(0)))
    hub.finish()
    #expect(await texts(sequence) == (1...6).map { "\($0 == 2 ? "quiet" : "busy") \($0) @\($0)" })
  }

  @Test("what a slow subscriber receives from the log is not counted as dropped")
  func slow() async {
    let broker = Broker()
    let (hub, writer) = make(broker, keeping: 1)
    writer.begin(epoch: 7, after: 0)
    var iterator = hub.events(for: "a", from: .live).makeAsyncIterator()
    for number in 1...5 {
      await broker.append(number, to: "a", UInt64(number))
      writer.deliver(number, to: "a", number: UInt64(number))
      if number == 1 { #expect(await iterator.next().map(text) == "a 1 @1") }
    }
    for number in 2...5 { #expect(await iterator.next().map(text) == "a \(number) @\(number)") }
    #expect(hub.droppedEvents == 0 && hub.statistics(for: "a")?.dropped == 0)
    hub.finish()
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

  @Test("an event that the hub retains is not skipped though the log has lost those around it")
  func retainedBetween() async {
    let broker = Broker()
    let (hub, writer) = make(broker, keeping: 1)
    writer.begin(epoch: 7, after: 0)
    for number in 1...6 {
      let topic = number == 3 ? "quiet" : "busy"
      await broker.append(number, to: topic, UInt64(number))
      writer.deliver(number, to: topic, number: UInt64(number))
    }
    await broker.trim(through: 6)
    let named = hub.events(for: ["quiet", "busy"], from: .after(at(1)))
    let matching = hub.events(matching: ["quiet", "busy"], from: .after(at(1)))
    let all = hub.events(matching: [">"], from: .after(at(1)))
    writer.deliver(7, to: "busy", number: 7)
    hub.finish()
    // 6 has left the hub as well.
    let expected = ["missed busy 7:1-7:6", "quiet 3 @3", "busy 7 @7"]
    #expect(await texts(named) == expected)
    #expect(await texts(matching) == expected)
    #expect(await texts(all) == expected)
  }

  @Test("after some pages, the log loses the rest: what the hub retains of the rest is not skipped")
  func retainedAfterPages() async {
    for isPattern in [false, true] {
      let broker = Broker()
      await broker.setPageLimit(1)
      let (hub, writer) = make(broker, keeping: 1)
      writer.begin(epoch: 7, after: 0)
      for number in 1...6 {
        let topic = number == 4 ? "quiet" : "busy"
        await broker.append(number, to: topic, UInt64(number))
        writer.deliver(number, to: topic, number: UInt64(number))
      }
      let sequence =
        isPattern
        ? hub.events(matching: ["*"], from: .after(at(1)))
        : hub.events(for: ["quiet", "busy"], from: .after(at(1)))
      hub.finish()
      var iterator = sequence.makeAsyncIterator()
      #expect(await iterator.next().map(text) == "busy 2 @2")
      await broker.setReachable(false)
      var rest: [String] = []
      while let element = await iterator.next() { rest.append(text(element)) }
      #expect(rest == ["missed busy 7:2-7:5", "quiet 4 @4", "busy 6 @6"])
    }
  }

  @Test(
    "a subscriber of patterns receives from the log what the hub does not retain",
    arguments: [1, 2, 100])
  func patternPages(limit: Int) async {
    let broker = Broker()
    await broker.setPageLimit(limit)
    let (hub, writer) = make(broker, keeping: 2)
    writer.begin(epoch: 7, after: 0)
    for number in 1...12 {
      let topic = ["a.x", "a.y", "b"][number % 3]
      await broker.append(number, to: topic, UInt64(number))
      writer.deliver(number, to: topic, number: UInt64(number))
    }
    let sequence = hub.events(matching: ["a.*", "a.y"], from: .after(at(1)))
    let all = hub.events(matching: [">"], from: .after(at(0)))
    let newest = hub.events(matching: ["a.>"], from: .after(at(10)))
    hub.finish()
    func expected(_ numbers: ClosedRange<Int>) -> [String] {
      numbers.map { "\(["a.x", "a.y", "b"][$0 % 3]) \($0) @\($0)" }
    }
    #expect(await texts(sequence) == expected(2...12).filter { !$0.hasPrefix("b") })
    #expect(await texts(all) == expected(1...12))
    #expect(await texts(newest) == ["a.x 12 @12"])
    #expect(await broker.requests.allSatisfy { $0.upperBound <= 10 })
  }

  @Test("what a page has behind its end comes with the next page, once and in order")
  func elementsBehindTheEnd() async {
    let (hub, writer) = make(OverlappingLog(), keeping: 1)
    writer.begin(epoch: 7, after: 0)
    let sequence = hub.events(for: "a", from: .after(at(0)))
    let reader = hub.reader(for: ["a"], from: .after(at(0))) {}
    for number in 1...6 { writer.deliver(number, to: "a", number: UInt64(number)) }
    let expected = (1...6).map { "a \($0) @\($0)" }
    #expect(await readAnswers(reader) == expected)
    hub.finish()
    #expect(await texts(sequence) == expected)
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
}
