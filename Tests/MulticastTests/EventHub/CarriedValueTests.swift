import Dispatch
import Multicast
import MulticastTestSupport
import Testing

private enum Trace {
  @TaskLocal static var id = -1
  @TaskLocal static var name = ""
}

@Suite("A handler sees the task-local values of the sender, if it asks for them")
struct CarriedValueTests {
  private static let options: [SubscriberOption<Int>] = [.carrying(Trace.$id, Trace.$name)]

  @Test("several options add up, whatever they are combined with")
  func severalOptions() async {
    let hub = EventHub<Int>()
    let seen = Journal()
    let subscription = hub.subscribe(
      on: .global(), options: [.carrying(Trace.$id), .combining([.carrying(Trace.$name), .once])]
    ) { _ in
      seen.record(Trace.id)
      seen.record(Trace.name.count)
    }
    Trace.$id.withValue(5) { Trace.$name.withValue("ann") { _ = hub.send(0) } }
    await hub.flush()
    #expect(seen.entries == [5, 3])
    withExtendedLifetime(subscription) {}
  }

  @Test("on a queue, on an actor and in a task; others see none", arguments: [0, 2])
  func everywhere(replay: Int) async {
    let hub = EventHub<Int>(replay: replay)
    let station = Station()
    let queue = DispatchQueue(label: "queue")
    let wrong = Counter()
    let calls = Counter()
    let check: @Sendable (Int) -> Void = { event in
      if Trace.id != event || Trace.name != "sender \(event)" { wrong.add() }
      calls.add()
    }
    let checkNone: @Sendable (Int) -> Void = { _ in
      if Trace.id != -1 || Trace.name != "" { wrong.add() }
      calls.add()
    }
    let subscriptions = [
      hub.subscribe(on: queue, options: Self.options, check),
      hub.subscribe(options: Self.options) { event in
        check(event)
        await Task.yield()
        if Trace.id != event { wrong.add() }
      },
      hub.subscribe(on: queue, checkNone),
    ]
    hub.subscribe(with: station, options: Self.options) { _, event in check(event) }
    hub.subscribe(with: station) { _, event in checkNone(event) }
    runThreads(4) { sender in
      for index in 0..<200 {
        let event = sender * 200 + index
        Trace.$id.withValue(event) {
          Trace.$name.withValue("sender \(event)") { _ = hub.send(event) }
        }
      }
    }
    await hub.flush()
    #expect(calls.value == 5 * 800)
    #expect(wrong.value == 0)
    withExtendedLifetime(subscriptions) {}
  }

  @Test("also with trySend and sendWaiting; a replay carries none")
  func otherSends() async {
    let hub = EventHub<Int>(replay: 1)
    hub.send(7)
    let station = Station()
    let journal = Journal()
    hub.subscribe(with: station, options: Self.options) { _, _ in journal.record(Trace.id) }
    await hub.flush()
    Trace.$id.withValue(1) { _ = hub.trySend(1) }
    await Trace.$id.withValue(2) { _ = await hub.sendWaiting(2) }
    await hub.flush()
    #expect(journal.entries == [-1, 1, 2])
  }

  @Test("a handler of all topics, or of a pattern, whose event waits for another delivery")
  func topicsWithTotalOrder() async {
    let hub = TopicHub<String, Int>(ordering: .total)
    let options: [SubscriberOption<TopicEvent<String, Int>>] = [.carrying(Trace.$id)]
    let journals = (0..<3).map { _ in Journal() }
    let subscriptions = [
      hub.allTopics.subscribe(on: .sender, options: options) { _ in journals[0].record(Trace.id) },
      hub.subscribe(matching: "a.*", on: .sender, options: options) { _ in
        journals[1].record(Trace.id)
      },
      hub.subscribe(matching: "a.>", on: .global(), options: options) { _ in
        journals[2].record(Trace.id)
      },
      // What it sends follows the current event, and is delivered when the value is not bound any
      // more.
      hub.subscribe(to: "a.b", on: .sender) { event in
        if event == 1 { Trace.$id.withValue(2) { _ = hub.send(2, to: "a.b") } }
        if event == 2 { Trace.$id.withValue(3) { _ = hub.trySend(3, to: "a.b") } }
      },
    ]
    Trace.$id.withValue(1) { _ = hub.send(1, to: "a.b") }
    await hub.flush()
    for journal in journals { #expect(journal.entries == [1, 2, 3]) }
    withExtendedLifetime(subscriptions) {}
  }

  @Test("a handler that another sender calls, in a hub with a total order")
  func totalOrder() {
    let hub = EventHub<Int>(ordering: .total)
    let wrong = Counter()
    let calls = Counter()
    let subscription = hub.subscribe(options: Self.options) { event in
      if Trace.id != event { wrong.add() }
      calls.add()
    }
    runThreads(4) { sender in
      for index in 0..<500 {
        let event = sender * 500 + index
        Trace.$id.withValue(event) { _ = hub.send(event) }
      }
    }
    #expect(calls.value == 2000)
    #expect(wrong.value == 0)
    withExtendedLifetime(subscription) {}
  }

  private final class Subscriptions: @unchecked Sendable {
    // Sendable: set by one thread, before it signals another one.
    weak var hub: EventHub<Int>?
    var each: [EventSubscription] = []
  }

  @Test(
    "a subscription that begins while an event is being sent, which another sender delivers",
    arguments: [false, true])
  func beginningDuringASend(tries: Bool) async {
    let (subscriptions, seen) = (Subscriptions(), Journal())
    let (isDelivering, mayContinue) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    // The size is computed before the event has its place in the order.
    let retention = Retention<Int>.bytes(100) { event in
      guard event == 2, let hub = subscriptions.hub else { return 1 }
      subscriptions.each.append(
        hub.subscribe(on: .global(), options: Self.options) { _ in
          seen.record(Trace.id)
          seen.record(Trace.name.count)
        })
      return 1
    }
    let hub = EventHub<Int>(retention: retention)
    subscriptions.hub = hub
    let other = hub.subscribe(on: .sender, options: [.carrying(Trace.$name)]) { event in
      guard event == 1 else { return }
      isDelivering.signal()
      mayContinue.wait()
    }
    await onOwnThread {
      runThreads(2) { thread in
        if thread == 0 { return Trace.$id.withValue(10) { _ = hub.send(1) } }
        isDelivering.wait()
        Trace.$id.withValue(20) {
          Trace.$name.withValue("ann") { _ = tries ? (hub.trySend(2) ? 1 : 0) : hub.send(2) }
        }
        mayContinue.signal()
      }
    }
    await hub.flush()
    #expect(seen.entries == [20, 3])
    withExtendedLifetime(other) {}
  }
}
