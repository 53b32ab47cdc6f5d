import ConcurrencyStress
import Foundation
import MulticastTestSupport
import Synchronization
import Testing

@testable import Multicast

private final class WeakHub: @unchecked Sendable {
  // Sendable: one thread uses it.
  weak var hub: TopicHub<String, Int>?
}

private struct WeakBox {
  weak var object: AnyObject?

  init(_ object: AnyObject) { self.object = object }
}

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

  @Test("after a new beginning, a subscriber of patterns is told what it misses of a kept topic")
  func patternAfterBeginningAnew() async {
    let (hub, writer) = make(GatedLog.unreachable, keeping: 2)
    writer.begin(epoch: 6, after: 1_000)
    let other = hub.reader(for: ["a"], from: .live) {}
    writer.begin(epoch: 7, after: 0)
    let pattern = hub.events(matching: ["a"], from: .live)
    for number in 1...5 { writer.deliver(number, to: "a", number: UInt64(number)) }
    hub.finish()
    #expect(await texts(pattern) == ["missed a 7:0-7:3", "a 4 @4", "a 5 @5"])
    withExtendedLifetime(other) {}
  }

  @Test("the hub finishes while an event is delivered: it is refused, and not kept")
  func finishedDuringDelivery() {
    let hub = WeakHub()
    var given: ExternalLogWriter<Int>?
    let sizes = Retention<Int>.bytes(100) { _ in
      hub.hub?.finish()
      return 1
    }
    let made = Hub(retention: sizes) { writer in
      given = writer
      return GatedLog.unreachable
    }
    hub.hub = made
    let writer = given!
    writer.begin(epoch: 7, after: 0)
    #expect(writer.deliver(1, to: "a", number: 1) == nil)
    writer.skip(through: 5)
    #expect(made.retainedAmount.events == 0 && made.newestPosition == at(0))
  }

  @Test("the last block ends while an event is skipped: the subscriber receives the range")
  func unblockedDuringDelivery() async {
    let received = await onOwnThread {
      (0..<50).map { _ in
        let (hub, writer) = make(GatedLog.unreachable)
        let log = hub.retention!.log
        let received = Counter()
        writer.begin(epoch: 7, after: 0)
        hub.block()
        let subscription = hub.subscribe(to: ["a"], from: .live, on: .sender) { _ in
          received.add()
        }
        var delivery: RunningThread?
        log.lock.withLock {
          delivery = RunningThread { writer.deliver(1, to: "a", number: 1) }
          // Until it has found the hub blocked, and waits for the lock.
          while log.lock.word.load(ordering: .relaxed) < 2 { sched_yield() }
        }
        // Usually before the other thread has the lock.
        hub.unblock()
        delivery?.join()
        return withExtendedLifetime(subscription) { received.value }
      }
    }
    #expect(received.allSatisfy { $0 == 1 })
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
    let (asked, gate) = (AsyncGate(), AsyncGate())
    struct Stalled: ExternalLog {
      let asked: AsyncGate
      let gate: AsyncGate
      func page(
        of topics: [String], after position: EventPosition, through last: UInt64
      ) async -> ExternalPage<Int>? {
        asked.open()
        await gate.wait()
        return nil
      }
      func contains(_ position: EventPosition) async -> Bool? { true }
    }
    var given: ExternalLogWriter<Int>?
    let hub = Hub(retention: .last(1)) { writer in
      given = writer
      return Stalled(asked: asked, gate: gate)
    }
    let writer = given!
    writer.begin(epoch: 7, after: 0)
    for number in 1...3 { writer.deliver(number, to: "a", number: UInt64(number)) }
    let sequence = hub.events(for: "a", from: .after(at(0)))
    let task = Task {
      var iterator = sequence.makeAsyncIterator()
      return await iterator.next()
    }
    await asked.wait()
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
