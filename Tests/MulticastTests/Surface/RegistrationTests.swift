// `forEach` of a hub is under test here, not that of `Sequence`.

import Multicast
import MulticastTestSupport
import Testing

@Suite("Registration")
struct RegistrationTests {
  @Test(
    "isActive tells whether the delegate can still be called", arguments: StorageStrategy.allCases)
  func isActive(storage: StorageStrategy) {
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let holder = Holder(RecordingObserver())
    let first = hub.add(holder.value!)
    #expect(first.isActive)
    first.cancel()
    #expect(!first.isActive)
    let second = hub.add(holder.value!)
    #expect(second.isActive)
    #expect(!first.isActive, "a new registration does not revive an old one")
    holder.value = nil
    #expect(!second.isActive)
  }

  @Test("dropping the handle does not end the registration", arguments: StorageStrategy.allCases)
  func droppingTheHandle(storage: StorageStrategy) {
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let delegate = RecordingObserver()
    _ = hub.add(delegate)
    #expect(hub.invoke { $0.receive(1) } == 1)
  }

  @Test(
    "a handle keeps neither the delegate nor the hub alive", arguments: StorageStrategy.allCases,
    Ownership.allCases)
  func aHandleKeepsNothingAlive(storage: StorageStrategy, ownership: Ownership) {
    let tracker = LifetimeTracker()
    let hub = MulticastDelegate<any Observing>(storage: storage)
    var delegate: RecordingObserver? = RecordingObserver(tracker: tracker)
    let registration = hub.add(delegate!, ownership: ownership)
    delegate = nil
    #expect(tracker.live == (ownership == .strong ? 1 : 0))
    registration.cancel()
    #expect(tracker.live == 0, "the handle keeps the delegate alive")
    #expect(!registration.isActive)
  }

  @Test(
    "a strong delegate that keeps its own handle is no leak", arguments: StorageStrategy.allCases,
    [true, false])
  func aDelegateThatKeepsItsOwnHandle(storage: StorageStrategy, cancels: Bool) {
    let tracker = LifetimeTracker()
    do {
      let hub = MulticastDelegate<any Observing>(storage: storage)
      let handles = (0..<3).map { _ in Holder<Registration<any Observing>>(nil) }
      for handle in handles {
        let delegate = ActingObserver(
          tracker: tracker, onReceive: { _, _ in handle.value?.cancel() })
        handle.value = hub.add(delegate, ownership: .strong)
      }
      if cancels { hub.forEach { $0.receive(1) } }
      #expect(hub.count == (cancels ? 0 : 3))
    }
    #expect(tracker.live == 0)
  }

  @Test("a handle outlives the hub and does nothing then", arguments: StorageStrategy.allCases)
  func aHandleOutlivesTheHub(storage: StorageStrategy) async {
    let delegate = RecordingObserver()
    var hub: MulticastDelegate? = MulticastDelegate<any Observing>(storage: storage)
    let registrations = [hub!.add(delegate), hub!.add(RecordingObserver(), ownership: .strong)]
    hub = nil
    for registration in registrations {
      #expect(!registration.isActive)
      registration.cancel()
      await registration.cancelAndWait()
    }
  }

  @Test("an ended registration can be asked from many threads", arguments: StorageStrategy.allCases)
  func askedFromManyThreads(storage: StorageStrategy) {
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let delegate = RecordingObserver()
    let registrations = (0..<200).map { _ -> Registration<any Observing> in
      let registration = hub.add(delegate, ownership: .strong)
      return registration
    }
    #expect(hub.count == 1, "all of them are one registration")
    runThreads(4) { index in
      for position in registrations.indices where position % 4 == index {
        registrations[position].cancel()
        #expect(registrations[position].cancelAndWait(timeout: .seconds(60)))
        #expect(!registrations[position].isActive)
      }
    }
    #expect(hub.isEmpty)
  }
}
