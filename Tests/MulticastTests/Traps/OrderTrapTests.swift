// `forEach` of a hub is under test here, not that of `Sequence`.

import Multicast
import MulticastTestSupport
import Testing

@Suite("Traps: order and delivery")
struct OrderTrapTests {
  @Test("T19: removed during a send, not called later", arguments: StorageStrategy.allCases)
  func removedDuringASend(storage: StorageStrategy) {
    let journal = Journal()
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let delegates = (0..<4).map { RecordingObserver($0, journal: journal) }
    for delegate in delegates { hub += delegate }
    // Each removes its successor.
    hub.forEach { delegate in
      delegate.receive(1)
      if delegate.id < 3 { hub -= delegates[delegate.id + 1] }
    }
    #expect(journal.take() == [0, 2])
  }

  @Test(
    "T20: added during a send, neither dropped nor called in it",
    arguments: StorageStrategy.allCases)
  func addedDuringASend(storage: StorageStrategy) {
    let journal = Journal()
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let delegates = (0..<40).map { RecordingObserver($0, journal: journal) }
    hub += delegates[0]
    // Each call of the newest adds the next one.
    for round in 0..<39 {
      hub.forEach { delegate in
        delegate.receive(1)
        if delegate.id == round { hub += delegates[round + 1] }
      }
      #expect(journal.take() == Array(0...round))
    }
    #expect(hub.count == 40)
  }

  @Test(
    "T20: removed and added again during a send, called at most once in it",
    arguments: StorageStrategy.allCases)
  func removedAndAddedAgain(storage: StorageStrategy) {
    let journal = Journal()
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let delegates = (0..<3).map { RecordingObserver($0, journal: journal) }
    for delegate in delegates { hub += delegate }
    hub.forEach { delegate in
      delegate.receive(1)
      guard delegate.id == 0 else { return }
      hub -= delegates[1]
      hub += delegates[1]
    }
    #expect(journal.take() == [0, 2])
    hub.forEach { $0.receive(1) }
    #expect(journal.take() == [0, 2, 1])
  }

  @Test(
    "T21: order after removing the first, at every size to above 31",
    arguments: StorageStrategy.allCases)
  func orderAfterRemovingTheFirst(storage: StorageStrategy) {
    for size in 1...70 {
      let hub = MulticastDelegate<any Observing>(storage: storage)
      let delegates = (0..<size).map { RecordingObserver($0) }
      for delegate in delegates { hub += delegate }
      hub -= delegates[0]
      #expect(hub.map(\.id) == Array(1..<size))
      hub += delegates[0]
      #expect(hub.map(\.id) == Array(1..<size) + [0])
    }
  }

  @Test("T25: cancelling again on an empty hub", arguments: StorageStrategy.allCases)
  func cancellingAgainOnAnEmptyHub(storage: StorageStrategy) {
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let delegates = (0..<3).map { RecordingObserver($0) }
    let registrations = delegates.map { hub.add($0) }
    for _ in 0..<2 {
      for registration in registrations { registration.cancel() }
      #expect(hub.isEmpty)
      hub.removeAll()
    }
    for registration in registrations { registration.cancel() }
    hub += delegates[1]
    for registration in registrations { registration.cancel() }
    #expect(hub.map(\.id) == [1])
  }
}
