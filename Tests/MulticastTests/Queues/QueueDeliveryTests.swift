import Dispatch
import Multicast
import MulticastTestSupport
import Testing

@Suite("Promise 5: on a queue, one delegate's calls are serial and in the order of each sender")
struct QueueDeliveryTests {
  @Test(
    "invoke enqueues for delegates with a queue and calls the rest inline",
    arguments: StorageStrategy.allCases)
  func enqueuesOrCalls(_ strategy: StorageStrategy) async {
    let hub = MulticastDelegate<any Observing>(storage: strategy)
    let queue = DispatchQueue(label: "suspended")
    let inline = RecordingObserver(1)
    let queued = RecordingObserver(2)
    hub.add(inline)
    hub.add(queued, on: queue)
    queue.suspend()
    #expect(hub.invoke { $0.receive(0) } == 2)
    #expect(inline.calls == 1)
    #expect(queued.calls == 0)
    queue.resume()
    await hub.flush()
    #expect(queued.calls == 1)
  }

  @Test("serial and in order even if the queue is concurrent", arguments: StorageStrategy.allCases)
  func serialOnConcurrentQueue(_ strategy: StorageStrategy) async {
    let hub = MulticastDelegate<any Observing>(storage: strategy)
    let queue = DispatchQueue(label: "concurrent", attributes: .concurrent)
    let delegates = (0..<3).map { _ in SerialObserver(senders: 4) }
    for delegate in delegates { hub.add(delegate, on: queue) }
    let perSender = 2000
    runThreads(4) { sender in
      for value in 0..<perSender { hub.invoke { $0.receive(value * 4 + sender) } }
    }
    await hub.flush()
    for delegate in delegates {
      #expect(delegate.calls == 4 * perSender)
      #expect(delegate.overlaps == 0)
      #expect(delegate.disorders == 0)
    }
  }

  @Test("serial and in order on global, serial and main queues")
  func everyKindOfQueue() async {
    let hub = MulticastDelegate<any Observing>()
    let queues: [DispatchQueue] = [.global(), DispatchQueue(label: "serial"), .main]
    let delegates = queues.map { queue in
      let delegate = SerialObserver(senders: 1)
      hub.add(delegate, on: queue)
      return delegate
    }
    for value in 0..<500 { hub.invoke { $0.receive(value) } }
    await hub.flush()
    for delegate in delegates {
      #expect(delegate.calls == 500)
      #expect(delegate.overlaps == 0 && delegate.disorders == 0)
    }
  }

  @Test(
    "a delegate that was removed before its call is not called", arguments: StorageStrategy.allCases
  )
  func removedBeforeItsTurn(_ strategy: StorageStrategy) async {
    let hub = MulticastDelegate<any Observing>(storage: strategy)
    let queue = DispatchQueue(label: "suspended")
    let delegate = RecordingObserver()
    let registration = hub.add(delegate, on: queue)
    queue.suspend()
    for _ in 0..<10 { hub.invoke { $0.receive(0) } }
    registration.cancel()
    #expect(registration.statistics?.discarded == 10)
    #expect(registration.statistics?.pending == 0)
    queue.resume()
    queue.sync {}
    #expect(delegate.calls == 0)
  }

  @Test(
    "a delegate that died before its call is not called, and what waits does not keep it alive",
    arguments: StorageStrategy.allCases)
  func diedBeforeItsTurn(_ strategy: StorageStrategy) async {
    let tracker = LifetimeTracker()
    let hub = MulticastDelegate<any Observing>(storage: strategy)
    let queue = DispatchQueue(label: "suspended")
    var delegate: RecordingObserver? = RecordingObserver(tracker: tracker)
    let registration = hub.add(delegate!, on: queue)
    queue.suspend()
    for _ in 0..<10 { hub.invoke { $0.receive(0) } }
    delegate = nil
    #expect(tracker.live == 0)
    queue.resume()
    await hub.flush()
    #expect(registration.statistics?.discarded == 10)
    // The next invocation finds it dead, enqueues nothing, and prunes.
    #expect(hub.invoke { $0.receive(0) } == 0)
    #expect(hub.prune() == 0)
  }

  @Test("one that is removed during a burst is not called later in it")
  func removesItselfDuringABurst() async {
    let hub = MulticastDelegate<any Observing>()
    let queue = DispatchQueue(label: "serial")
    let journal = Journal()
    let delegate = ActingObserver { [weak hub] delegate, value in
      journal.record(value)
      if value == 3 { hub?.remove(delegate) }
    }
    hub.add(delegate, on: queue)
    queue.suspend()
    for value in 0..<10 { hub.invoke { $0.receive(value) } }
    queue.resume()
    await hub.flush()
    queue.sync {}
    #expect(journal.entries == [0, 1, 2, 3])
  }

  @Test("the poster runs on the delegate's queue, and a queue waits for the poster")
  func posterOnTheQueue() async {
    let hub = MulticastDelegate<any Observing>()
    let queue = DispatchQueue(label: "serial")
    let delegate = RecordingObserver()
    hub.add(delegate, on: queue)
    queue.sync { _ = hub.invoke { $0.receive(0) } }
    await hub.flush()
    #expect(delegate.calls == 1)
    // A callback invokes the hub again, also through another queue that it waits for.
    let other = DispatchQueue(label: "other")
    let relay = ActingObserver { [weak hub] _, value in
      guard value > 0 else { return }
      other.sync { _ = hub?.invoke { $0.receive(value - 1) } }
    }
    hub.add(relay, on: queue)
    hub.invoke { $0.receive(3) }
    for _ in 0..<5 { await hub.flush() }
    #expect(delegate.calls == 1 + 4)
  }

  @Test("a long drain yields the queue after a bounded share")
  func fairness() async {
    let hub = MulticastDelegate<any Observing>()
    let queue = DispatchQueue(label: "serial")
    let journal = Journal()
    let delegate = ActingObserver { _, value in journal.record(value) }
    hub.add(delegate, on: queue)
    queue.suspend()
    for value in 0..<1000 { hub.invoke { $0.receive(value) } }
    queue.async { journal.record(-1) }
    queue.resume()
    await hub.flush()
    let position = journal.entries.firstIndex(of: -1)
    #expect(position.map { $0 <= 64 } == true)
    #expect(journal.entries.filter { $0 >= 0 } == Array(0..<1000))
  }

  @Test("the queue and the hub are not kept alive by an empty mailbox")
  func nothingIsKeptAlive() async {
    weak var weakQueue: DispatchQueue?
    weak var weakHub: MulticastDelegate<any Observing>?
    let delegate = RecordingObserver()
    var registration: Registration<any Observing>?
    do {
      let queue = DispatchQueue(label: "short-lived")
      let hub = MulticastDelegate<any Observing>()
      weakQueue = queue
      weakHub = hub
      registration = hub.add(delegate, on: queue)
      hub.invoke { $0.receive(0) }
      await hub.flush()
      registration?.cancel()
      queue.sync {}
    }
    #expect(weakHub == nil)
    registration = nil
    // Blocks that have run are released by the queue's thread, a moment later.
    while weakQueue != nil { await Task.yield() }
    #expect(delegate.calls == 1)
  }

  @Test("a delegate of the main actor is called on the main queue")
  func mainActor() async {
    let hub = MulticastDelegate<any Observing>()
    let view = await MainActor.run { MainView() }
    hub.add(view, on: .main)
    for value in 0..<10 { hub.invoke { $0.receive(value) } }
    await hub.flush()
    #expect(await view.shown == Array(0..<10))
  }
}

/// The idiom for a delegate that is isolated to the main actor.
@MainActor
private final class MainView: Observing {
  nonisolated let id = 0
  var shown: [Int] = []

  nonisolated func receive(_ value: Int) {
    MainActor.assumeIsolated { shown.append(value) }
  }
}
