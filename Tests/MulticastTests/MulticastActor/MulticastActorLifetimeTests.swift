import Multicast
import MulticastTestSupport
import Testing

@Suite("MulticastActor: what tasks keep, and what a cancelled caller still gets")
struct MulticastActorLifetimeTests {
  @Test("the time runs also for a caller that is cancelled")
  func timeoutOfACancelledCaller() async {
    let hub = MulticastActor<RecordingObserver>()
    let delegates = (0..<5).map { RecordingObserver($0) }
    for delegate in delegates { hub.add(delegate) }
    let clock = ManualClock()
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return await hub.invokeConcurrently(limit: 1, timeout: .seconds(1), clock: clock) { _ in
        clock.advance(by: .milliseconds(600))
      }
    }
    let results = await task.value
    #expect(results.count == 5)
    let late = results.filter { (try? $0.get()) == nil }
    #expect(late.count >= 3)
  }

  @Test("a task that a callback has started keeps no delegate of the invocation")
  func ancestryKeepsNothing() async {
    let tracker = LifetimeTracker()
    let hub = MulticastActor<RecordingObserver>()
    let registration = hub.add(RecordingObserver(1, tracker: tracker), ownership: .strong)
    let started = Holder<Task<Void, Never>>(nil)
    let mayEnd = AsyncGate()
    _ = await hub.invokeConcurrently { _ in
      started.value = Task { await mayEnd.wait() }
    }
    registration.cancel()
    #expect(tracker.live == 0)
    mayEnd.open()
    await started.value?.value
  }

  @Test("one that died while it was blocked is pruned by an invocation", arguments: [false, true])
  func oneThatDiedDuringABlockIsPruned(concurrently: Bool) async {
    let hub = AwaitingHub()
    var observer: AwaitedObserver? = AwaitedObserver(0)
    hub.add(observer!).block()
    observer = nil
    if concurrently {
      #expect(await hub.invokeConcurrently { await $0.receive(1) }.isEmpty)
    } else {
      await hub.invoke { await $0.receive(1) }
    }
    #expect(hub.prune() == 0, "the invocation has pruned")
  }
}
