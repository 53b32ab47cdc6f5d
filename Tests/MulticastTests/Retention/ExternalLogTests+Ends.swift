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

// New beginnings, blocks, cancellations, and the end of the hub.

extension ExternalLogTests {
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

  @Test("what skips or begins anew after the end of the hub takes nothing from subscribers")
  func beginsAnewAfterTheEnd() async {
    let (hub, writer) = make(GatedLog.unreachable)
    writer.begin(epoch: 7, after: 0)
    let reader = hub.reader(for: ["a"], from: .live) {}
    let sequence = hub.events(for: "a", from: .live)
    let pattern = hub.events(matching: ["*"], from: .live)
    writer.deliver(1, to: "a", number: 1)
    hub.finish()
    writer.skip(through: 9)
    // In the same epoch too, which is a mistake before the end.
    for epoch in [8, 7] as [UInt64] { writer.begin(epoch: epoch, after: 0) }
    #expect(read(reader) == ["a 1 @1"] && reader.end == .finished)
    #expect(await texts(sequence) == ["a 1 @1"])
    #expect(await texts(pattern) == ["a 1 @1"])
    #expect(await texts(hub.events(for: "a", from: .retained)) == ["a 1 @1"])
    #expect(hub.retainedAmount.events == 1 && hub.newestPosition == at(1))
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
    writer.refusePositions(after: 1, namedBefore: writer.markPositions())
    #expect(writer.deliver(1, to: "a", number: 4) == nil)
  }
}
