import Dispatch
import Multicast
import MulticastTestSupport
import Testing

@Suite("Delegates that each have a queue of their own")
struct ManyQueuesTests {
  @Test(
    "all are called, serially and in order, while several threads send",
    arguments: StorageStrategy.allCases)
  func allAreCalled(_ strategy: StorageStrategy) async {
    let hub = MulticastDelegate<any Observing>(storage: strategy)
    let delegates = (0..<40).map { index in
      let delegate = SerialObserver(senders: 3)
      hub.add(delegate, on: DispatchQueue(label: "queue \(index)"))
      return delegate
    }
    let perSender = 300
    runThreads(3) { sender in
      for value in 0..<perSender { hub.invoke { $0.receive(value * 3 + sender) } }
    }
    await hub.flush()
    for delegate in delegates {
      #expect(delegate.calls == 3 * perSender)
      #expect(delegate.overlaps == 0 && delegate.disorders == 0)
    }
  }

  @Test("a queue that stands still holds up no other one, however many there are")
  func suspendedQueues() async {
    let hub = MulticastDelegate<any Observing>()
    let queues = (0..<40).map { DispatchQueue(label: "queue \($0)") }
    let delegates = queues.map { queue in
      let delegate = SerialObserver(senders: 1)
      hub.add(delegate, on: queue)
      return delegate
    }
    let isSuspended = { (index: Int) in index % 2 == 0 }
    for (index, queue) in queues.enumerated() where isSuspended(index) { queue.suspend() }
    let events = 100
    for value in 0..<events { hub.invoke { $0.receive(value) } }
    for (index, delegate) in delegates.enumerated() where !isSuspended(index) {
      await eventually { delegate.calls == events }
    }
    for (index, delegate) in delegates.enumerated() where isSuspended(index) {
      #expect(delegate.calls == 0)
    }
    for (index, queue) in queues.enumerated() where isSuspended(index) { queue.resume() }
    await hub.flush()
    for delegate in delegates {
      #expect(delegate.calls == events)
      #expect(delegate.overlaps == 0 && delegate.disorders == 0)
    }
  }

  @Test("one invocation reaches every queue, though nothing follows it")
  func singleInvocation() async {
    let hub = MulticastDelegate<any Observing>()
    let delegates = (0..<100).map { index in
      let delegate = RecordingObserver(index)
      hub.add(delegate, on: DispatchQueue(label: "queue \(index)"))
      return delegate
    }
    #expect(hub.invoke { $0.receive(0) } == 100)
    for delegate in delegates { await eventually { delegate.calls == 1 } }
  }

  @Test("what was woken in the background keeps neither delegate nor hub")
  func nothingIsKept() async {
    let tracker = LifetimeTracker()
    do {
      let hub = MulticastDelegate<any Observing>()
      for index in 0..<50 {
        let delegate = RecordingObserver(index, tracker: tracker)
        hub.add(delegate, ownership: .strong, on: DispatchQueue(label: "queue \(index)"))
      }
      for value in 0..<20 { hub.invoke { $0.receive(value) } }
      await hub.flush()
    }
    await eventually { tracker.live == 0 }
  }
}
