import Multicast
import MulticastTestSupport
import Testing

@Suite("A scoped handle of a registration")
struct ScopedRegistrationTests {
  @Test(
    "the release of the handle ends the registration", arguments: StorageStrategy.allCases,
    Ownership.allCases)
  func release(storage: StorageStrategy, ownership: Ownership) {
    let tracker = LifetimeTracker()
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let delegate = RecordingObserver()
    var scope: ScopedRegistration? = hub.add(delegate, ownership: ownership).scoped()
    #expect(scope?.isActive == true)
    #expect(hub.invoke { $0.receive(1) } == 1)
    let registration = scope!.registration
    scope = nil
    #expect(!registration.isActive)
    #expect(hub.invoke { $0.receive(1) } == 0)
    #expect(delegate.calls == 1)
    // The last reference to a strong delegate may be the registration.
    scope = hub.add(RecordingObserver(tracker: tracker), ownership: .strong).scoped()
    #expect(tracker.live == 1)
    scope = nil
    #expect(tracker.live == 0)
  }

  @Test("a handle that is not kept ends the registration at once")
  func notKept() {
    let hub = MulticastDelegate<any Observing>()
    let delegate = RecordingObserver()
    _ = hub.add(delegate).scoped()
    #expect(hub.isEmpty)
  }

  @Test("cancel ends it earlier; the release then touches no later registration")
  func cancelledEarlier() {
    let hub = MulticastDelegate<any Observing>()
    let delegate = RecordingObserver()
    var scope: ScopedRegistration? = hub.add(delegate).scoped()
    scope?.cancel()
    #expect(scope?.isActive == false)
    hub.add(delegate)
    scope = nil
    #expect(hub.contains(delegate))
  }

  @Test("of several handles of one registration, the first release ends it")
  func severalHandles() {
    let hub = MulticastDelegate<any Observing>()
    let delegate = RecordingObserver()
    var first: ScopedRegistration? = hub.add(delegate).scoped()
    let second = hub.add(delegate).scoped()
    #expect(hub.count == 1 && first?.isActive == true && second.isActive)
    first = nil
    #expect(hub.isEmpty && !second.isActive)
  }

  @Test("a delegate may release its own handle inside the callback, and keep it")
  func insideTheCallback() {
    let tracker = LifetimeTracker()
    do {
      let hub = MulticastDelegate<any Observing>()
      let scope = Holder<ScopedRegistration<any Observing>>(nil)
      let delegate = ActingObserver(tracker: tracker, onReceive: { _, _ in scope.value = nil })
      scope.value = hub.add(delegate, ownership: .strong).scoped()
      #expect(hub.invoke { $0.receive(1) } == 1)
      #expect(hub.invoke { $0.receive(1) } == 0)
    }
    #expect(tracker.live == 0)
  }

  @Test("a registration with an actor hub can be scoped too")
  func actorHub() async {
    let hub = AwaitingHub()
    let delegate = AwaitedObserver(0)
    var scope: ScopedRegistration? = hub.add(delegate).scoped()
    await hub.invoke { await $0.receive(1) }
    scope = nil
    await hub.invoke { await $0.receive(1) }
    #expect(delegate.calls == 1)
    #expect(scope == nil)
  }

  @Test("handles that threads release while others invoke: no call after the end")
  func racing() {
    let tracker = LifetimeTracker()
    let hub = MulticastDelegate<any Observing>()
    runThreads(4) { index in
      for _ in 0..<500 {
        if index == 0 {
          hub.invoke { $0.receive(1) }
        } else {
          let scope = hub.add(RecordingObserver(tracker: tracker), ownership: .strong).scoped()
          withExtendedLifetime(scope) {}
        }
      }
    }
    #expect(hub.isEmpty)
    #expect(tracker.created == 1500 && tracker.live == 0)
  }
}
