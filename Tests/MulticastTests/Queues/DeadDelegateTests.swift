import Dispatch
import Multicast
import MulticastTestSupport
import Testing

@Suite("A dead delegate is not counted and keeps no call, whatever its queue is doing")
struct DeadDelegateTests {
  @Test("while its queue is suspended", arguments: StorageStrategy.allCases)
  func suspendedQueue(_ strategy: StorageStrategy) {
    let hub = MulticastDelegate<any Observing>(storage: strategy)
    let queue = DispatchQueue(label: "suspended")
    queue.suspend()
    defer { queue.resume() }
    expectNothingKept(hub, queue)
  }

  @Test("while its queue is busy", arguments: StorageStrategy.allCases)
  func busyQueue(_ strategy: StorageStrategy) {
    let hub = MulticastDelegate<any Observing>(storage: strategy)
    let queue = DispatchQueue(label: "busy")
    let leave = Gate("leave")
    queue.async { leave.wait() }
    defer { leave.open() }
    expectNothingKept(hub, queue)
  }

  /// Releases a delegate on `queue` and invokes 10,000 times.
  private func expectNothingKept(_ hub: MulticastDelegate<any Observing>, _ queue: DispatchQueue) {
    let tracker = LifetimeTracker()
    var delegate: RecordingObserver? = RecordingObserver()
    let registration = hub.add(delegate!, on: queue)
    delegate = nil
    var counted = 0
    for _ in 0..<10_000 {
      let payload = RecordingObserver(tracker: tracker)
      counted += hub.invoke { _ in withExtendedLifetime(payload) {} }
    }
    #expect(counted == 0)
    #expect(tracker.created == 10_000)
    #expect(tracker.live == 0)
    #expect(registration.statistics?.enqueued == 0)
  }

  @Test(
    "calls enqueued before the death stay until the entry is pruned, and are then discarded",
    arguments: StorageStrategy.allCases)
  func earlierCallsAreDiscarded(_ strategy: StorageStrategy) {
    let hub = MulticastDelegate<any Observing>(storage: strategy)
    let queue = DispatchQueue(label: "suspended")
    queue.suspend()
    defer { queue.resume() }
    let tracker = LifetimeTracker()
    var delegate: RecordingObserver? = RecordingObserver()
    let registration = hub.add(delegate!, on: queue)
    for _ in 0..<10 {
      let payload = RecordingObserver(tracker: tracker)
      #expect(hub.invoke { _ in withExtendedLifetime(payload) {} } == 1)
    }
    delegate = nil
    #expect(tracker.live == 10)
    #expect(hub.invoke { $0.receive(0) } == 0)
    #expect(tracker.live == 0, "the invocation has pruned")
    #expect(registration.statistics?.discarded == 10)
    #expect(registration.statistics?.pending == 0)
    #expect(hub.prune() == 0)
  }

  @Test(
    "the next invocation frees the memory of one that was blocked",
    arguments: StorageStrategy.allCases, [false, true])
  func blocked(_ strategy: StorageStrategy, hasQueue: Bool) {
    let hub = MulticastDelegate<any Observing>(storage: strategy)
    let queue = DispatchQueue(label: "suspended")
    queue.suspend()
    defer { queue.resume() }
    let tracker = LifetimeTracker()
    var delegate: RecordingObserver? = RecordingObserver()
    let registration = hasQueue ? hub.add(delegate!, on: queue) : hub.add(delegate!)
    func invoke() -> Int {
      let payload = RecordingObserver(tracker: tracker)
      return hub.invoke { _ in withExtendedLifetime(payload) {} }
    }
    #expect(invoke() == 1)
    registration.block()
    #expect(invoke() == 0)
    delegate = nil
    #expect(invoke() == 0)
    #expect(tracker.live == 0, "the invocation has pruned")
    #expect(hub.registeredEntries == 0)
  }

  @Test("the living behind it are counted and called", arguments: StorageStrategy.allCases)
  func theLivingBehindIt(_ strategy: StorageStrategy) async {
    let hub = MulticastDelegate<any Observing>(storage: strategy)
    let queue = DispatchQueue(label: "suspended")
    queue.suspend()
    let living = (0..<10).map { RecordingObserver($0) }
    var dead: [RecordingObserver] = []
    for observer in living {
      dead.append(RecordingObserver())
      hub.add(dead.last!, on: queue)
      hub.add(observer, on: queue)
    }
    dead = []
    for _ in 0..<5 { #expect(hub.invoke { $0.receive(0) } == 10) }
    queue.resume()
    await hub.flush()
    #expect(living.allSatisfy { $0.calls == 5 })
  }
}
