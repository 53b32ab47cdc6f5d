import Dispatch
import Multicast
import MulticastTestSupport
import Testing

@Suite("A bound per registration, with counters")
struct QueueBufferingTests {
  /// What a delegate on a suspended queue receives of 0..<10, and its statistics.
  private func deliver(
    _ buffering: QueueBuffering, _ strategy: StorageStrategy = .waitFree
  ) async -> ([Int], DeliveryStatistics?) {
    let hub = MulticastDelegate<any Observing>(storage: strategy)
    let queue = DispatchQueue(label: "suspended")
    let journal = Journal()
    let delegate = ActingObserver { _, value in journal.record(value) }
    let registration = hub.add(delegate, on: queue, buffering: buffering)
    queue.suspend()
    for value in 0..<10 { hub.invoke { $0.receive(value) } }
    #expect(registration.statistics?.enqueued == 10)
    queue.resume()
    await hub.flush()
    return (journal.entries, registration.statistics)
  }

  @Test(arguments: StorageStrategy.allCases)
  func unboundedLosesNothing(_ strategy: StorageStrategy) async {
    let (received, statistics) = await deliver(.unbounded, strategy)
    #expect(received == Array(0..<10))
    #expect(statistics?.delivered == 10 && statistics?.dropped == 0 && statistics?.pending == 0)
  }

  @Test func dropOldestKeepsTheNewest() async {
    let (received, statistics) = await deliver(.bounded(3, whenFull: .dropOldest))
    #expect(received == [7, 8, 9])
    #expect(statistics?.delivered == 3 && statistics?.dropped == 7)
  }

  @Test func dropNewestKeepsTheOldest() async {
    let (received, statistics) = await deliver(.bounded(3, whenFull: .dropNewest))
    #expect(received == [0, 1, 2])
    #expect(statistics?.delivered == 3 && statistics?.dropped == 7)
  }

  @Test("suspend: invoke cannot wait, and drops the newest")
  func suspendKeepsTheOldest() async {
    let (received, statistics) = await deliver(.bounded(3, whenFull: .suspend))
    #expect(received == [0, 1, 2])
    #expect(statistics?.delivered == 3 && statistics?.dropped == 7)
  }

  @Test(
    "disconnect: the delegate gets what waits, and is removed", arguments: StorageStrategy.allCases)
  func disconnectRemoves(_ strategy: StorageStrategy) async {
    let hub = MulticastDelegate<any Observing>(storage: strategy)
    let queue = DispatchQueue(label: "suspended")
    let journal = Journal()
    let delegate = ActingObserver { _, value in journal.record(value) }
    let registration = hub.add(
      delegate, on: queue, buffering: .bounded(3, whenFull: .disconnect))
    queue.suspend()
    #expect((0..<5).map { value in hub.invoke { $0.receive(value) } } == [1, 1, 1, 0, 0])
    #expect(registration.isActive, "it still gets what waits")
    queue.resume()
    await eventually { !registration.isActive }
    #expect(journal.entries == [0, 1, 2])
    #expect(hub.isEmpty)
    let statistics = registration.statistics
    #expect(statistics?.delivered == 3 && statistics?.dropped == 1 && statistics?.discarded == 1)
    // It can be added again.
    hub.add(delegate)
    hub.invoke { $0.receive(9) }
    #expect(journal.entries == [0, 1, 2, 9])
  }

  @Test(arguments: [QueueBuffering.latest, .bounded(1, whenFull: .dropOldest)])
  func latestKeepsOne(_ buffering: QueueBuffering) async {
    let (received, statistics) = await deliver(buffering)
    #expect(received == [9])
    #expect(statistics?.dropped == 9)
  }

  @Test("invoke counts neither what is dropped nor what is refused")
  func invokeCountsWhatIsEnqueued() {
    let hub = MulticastDelegate<any Observing>()
    let queue = DispatchQueue(label: "suspended")
    queue.suspend()
    defer { queue.resume() }
    let delegate = RecordingObserver()
    hub.add(delegate, on: queue, buffering: .bounded(1, whenFull: .dropNewest))
    #expect(hub.invoke { $0.receive(0) } == 1)
    #expect(hub.invoke { $0.receive(0) } == 0)
  }

  @Test("a limit below 1 is a precondition failure that names it")
  func limitBelowOne() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let hub = MulticastDelegate<any Observing>()
      hub.add(
        RecordingObserver(), ownership: .strong, on: .main,
        buffering: .bounded(0, whenFull: .dropOldest))
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains("a buffer limit of 0"))
  }

  @Test("a million deliveries to a stalled bounded mailbox leave memory flat")
  func flatMemory() {
    let tracker = LifetimeTracker()
    let hub = MulticastDelegate<any Observing>()
    let queue = DispatchQueue(label: "suspended")
    queue.suspend()
    defer { queue.resume() }
    let delegate = RecordingObserver()
    let registration = hub.add(delegate, on: queue, buffering: .bounded(10, whenFull: .dropOldest))
    var most = 0
    for round in 0..<1_000_000 {
      let payload = RecordingObserver(tracker: tracker)
      hub.invoke { _ in withExtendedLifetime(payload) {} }
      if round % 1000 == 0 { most = max(most, tracker.live) }
    }
    #expect(most <= 11)
    #expect(registration.statistics?.dropped == 1_000_000 - 10)
    registration.cancel()
    #expect(tracker.live == 0)
  }

  @Test("one stalled delegate starves no other one")
  func stalledDelegate() async {
    let hub = MulticastDelegate<any Observing>()
    let stalled = DispatchQueue(label: "stalled")
    stalled.suspend()
    defer { stalled.resume() }
    let slow = RecordingObserver()
    hub.add(slow, on: stalled, buffering: .latest)
    let delegate = RecordingObserver()
    let registration = hub.add(delegate, on: DispatchQueue(label: "quick"))
    for _ in 0..<1000 { hub.invoke { $0.receive(0) } }
    await eventually { registration.statistics?.delivered == 1000 }
    #expect(delegate.calls == 1000)
    #expect(slow.calls == 0)
  }
}
