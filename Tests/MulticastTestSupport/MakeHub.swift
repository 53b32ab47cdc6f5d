public import Multicast

/// A hub with one weak delegate, and its registration.
public func makeHub(
  _ storage: StorageStrategy
) -> (
  hub: MulticastDelegate<any Observing>, delegate: RecordingObserver,
  registration: Registration<any Observing>
) {
  let hub = MulticastDelegate<any Observing>(storage: storage)
  let delegate = RecordingObserver()
  return (hub, delegate, hub.add(delegate))
}
