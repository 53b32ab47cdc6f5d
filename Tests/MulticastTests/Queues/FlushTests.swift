import Dispatch
import Multicast
import MulticastTestSupport
import Synchronization
import Testing

@Suite("flush: everything enqueued before this call has run")
struct FlushTests {
  @Test(arguments: StorageStrategy.allCases)
  func everythingBeforeHasRun(_ strategy: StorageStrategy) async {
    let hub = MulticastDelegate<any Observing>(storage: strategy)
    let delegates = (0..<10).map { _ in RecordingObserver() }
    for delegate in delegates { hub.add(delegate, on: .global()) }
    for round in 1...50 {
      for _ in 0..<20 { hub.invoke { $0.receive(0) } }
      await hub.flush()
      #expect(delegates.allSatisfy { $0.calls == round * 20 })
    }
  }

  @Test(
    "also calls whose block is not on its queue yet: many delegates that are idle",
    arguments: StorageStrategy.allCases)
  func manyIdleDelegates(_ strategy: StorageStrategy) async {
    let hub = MulticastDelegate<any Observing>(storage: strategy)
    let queue = DispatchQueue(label: "serial")
    let delegates = (0..<40).map { _ in RecordingObserver() }
    for delegate in delegates { hub.add(delegate, on: queue) }
    for round in 1...100 {
      #expect(hub.invoke { $0.receive(0) } == 40)
      if round % 2 == 0 {
        await hub.flush()
      } else {
        #expect(blockingFlush(hub, .seconds(60)))
      }
      #expect(delegates.allSatisfy { $0.calls == round })
    }
  }

  @Test("also from many threads at once, blocking")
  func manyThreads() {
    let hub = MulticastDelegate<any Observing>()
    let delegate = RecordingObserver()
    hub.add(delegate, on: DispatchQueue(label: "serial"))
    let failures = Atomic<Int>(0)
    runThreads(4) { _ in
      for _ in 0..<200 {
        let hasRun = Gate("call")
        hub.invoke { delegate in
          delegate.receive(0)
          hasRun.open()
        }
        let isFlushed = hub.flush(timeout: .seconds(60))
        if !isFlushed || !hasRun.isOpen { failures.add(1, ordering: .relaxed) }
      }
    }
    #expect(failures.load(ordering: .relaxed) == 0)
    #expect(delegate.calls == 800)
  }

  @Test("the time runs out if the queue does not move, and what is discarded completes it")
  func timeRunsOut() {
    let hub = MulticastDelegate<any Observing>()
    let queue = DispatchQueue(label: "suspended")
    let delegate = RecordingObserver()
    let registration = hub.add(delegate, on: queue)
    queue.suspend()
    hub.invoke { $0.receive(0) }
    #expect(!hub.flush(timeout: .zero))
    let flushed = Gate("flushed")
    let thread = RunningThread {
      if hub.flush(timeout: .seconds(60)) { flushed.open() }
    }
    registration.cancel()
    thread.join()
    #expect(flushed.isOpen)
    queue.resume()
  }

  @Test("nothing to wait for: returns at once")
  func nothingPending() async {
    let hub = MulticastDelegate<any Observing>()
    await hub.flush()
    #expect(blockingFlush(hub, .zero))
    let delegate = RecordingObserver()
    hub.add(delegate)
    hub.invoke { $0.receive(0) }
    #expect(blockingFlush(hub, .zero))
  }

  @Test("from inside a callback of the same mailbox: no deadlock")
  func fromInside() async {
    let hub = MulticastDelegate<any Observing>()
    let result = Gate("flushed inside")
    let delegate = ActingObserver { [weak hub] _, value in
      guard value == 0, let hub else { return }
      if blockingFlush(hub, .seconds(60)) { result.open() }
    }
    hub.add(delegate, on: DispatchQueue(label: "serial"))
    for value in 0..<3 { hub.invoke { $0.receive(value) } }
    await hub.flush()
    #expect(result.isOpen)
  }

  @Test(
    "cancelAndWait covers a call that is running on a queue", arguments: StorageStrategy.allCases)
  func cancelAndWaitOnQueue(_ strategy: StorageStrategy) async {
    let hub = MulticastDelegate<any Observing>(storage: strategy)
    let tracker = LifetimeTracker()
    let queue = DispatchQueue(label: "concurrent", attributes: .concurrent)
    for _ in 0..<200 {
      let delegate = RecordingObserver(tracker: tracker)
      let registration = hub.add(delegate, on: queue)
      for _ in 0..<5 { hub.invoke { $0.receive(0) } }
      await registration.cancelAndWait()
      delegate.poison()
    }
    await hub.flush()
    queue.sync(flags: .barrier) {}
    #expect(tracker.lateCalls == 0)
    #expect(tracker.live == 0)
  }

  @Test("cancelAndWait waits while the callback runs on its queue, but not inside it")
  func cancelAndWaitWaits() {
    let hub = MulticastDelegate<any Observing>()
    let entered = Gate("entered")
    let leave = Gate("leave")
    let delegate = ActingObserver { _, _ in
      entered.open()
      leave.wait()
    }
    let registration = hub.add(delegate, on: .global())
    hub.invoke { $0.receive(0) }
    entered.wait()
    #expect(!registration.cancelAndWait(timeout: .milliseconds(1)))
    leave.open()
    #expect(registration.cancelAndWait(timeout: .seconds(60)))
  }
}

/// Calls from an asynchronous function what may only be called from a blocking one.
private func blockingFlush(_ hub: MulticastDelegate<any Observing>, _ timeout: Duration) -> Bool {
  hub.flush(timeout: timeout)
}
