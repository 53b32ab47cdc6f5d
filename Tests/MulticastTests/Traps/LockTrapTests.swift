// `forEach` of a hub is under test here, not that of `Sequence`.

import Dispatch
import Multicast
import MulticastTestSupport
import Testing

@Suite("Traps: locks")
struct LockTrapTests {
  @Test(
    "T4: a delegate released by remove whose deinit calls remove",
    arguments: StorageStrategy.allCases)
  func deinitThatRemovesAnother(storage: StorageStrategy) {
    let tracker = LifetimeTracker()
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let neighbour = RecordingObserver(2)
    hub += neighbour
    let registration = hub.add(
      ActingObserver(
        1, tracker: tracker,
        onDeinit: { [unowned hub] in
          hub.remove(neighbour)
          hub.forEach { $0.receive(1) }
        }), ownership: .strong)
    registration.cancel()
    #expect(tracker.live == 0)
    #expect(hub.isEmpty)
    #expect(neighbour.calls == 0)
  }

  @Test(
    "T4: the deinit of what a closure holds, when the closure is released by invoke",
    arguments: StorageStrategy.allCases)
  func closureReleasedByInvoke(storage: StorageStrategy) {
    let tracker = LifetimeTracker()
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let delegate = RecordingObserver()
    hub += delegate
    do {
      let captured = ActingObserver(
        tracker: tracker, onDeinit: { HubOperation.runAllElsewhere(on: hub) })
      hub.invoke { [captured] in $0.receive(captured.id) }
    }
    #expect(tracker.live == 0)
    #expect(delegate.calls == 1)
  }

  @Test("T5: through queue.sync from another queue", arguments: StorageStrategy.allCases)
  func throughAQueue(storage: StorageStrategy) {
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let delegates = (0..<3).map { RecordingObserver($0) }
    for delegate in delegates { hub += delegate }
    let queue = DispatchQueue(label: "other")
    hub.forEach { delegate in
      delegate.receive(1)
      queue.sync {
        for operation in HubOperation.allCases where operation != .removeAll {
          operation.run(on: hub)
        }
      }
    }
    #expect(delegates.map(\.calls) == [1, 1, 1])
  }

  @Test("T5: two hubs that call each other", arguments: StorageStrategy.allCases)
  func twoHubsThatCallEachOther(storage: StorageStrategy) {
    let hubs = (0..<2).map { _ in MulticastDelegate<any Observing>(storage: storage) }
    let journal = Journal()
    let delegates = (0..<2).map { index in
      ActingObserver(
        index,
        onReceive: { [hubs] delegate, value in
          journal.record(delegate.id)
          guard value > 0 else { return }
          hubs[1 - delegate.id].invoke { $0.receive(value - 1) }
        })
    }
    for (hub, delegate) in zip(hubs, delegates) { hub.add(delegate) }
    hubs[0].invoke { $0.receive(5) }
    #expect(journal.take() == [0, 1, 0, 1, 0, 1])
    // From both ends at once, with changes in between.
    let barrier = StartBarrier(2)
    runThreads(2) { index in
      for _ in 0..<200 {
        barrier.arriveAndWait()
        hubs[index].invoke { $0.receive(4) }
        let guest = RecordingObserver(7)
        hubs[1 - index].add(guest)
        hubs[1 - index].remove(guest)
      }
    }
    #expect(journal.take().count == 2 * 200 * 5)
  }

  @Test("T5: a re-entrant send is delivered inside", arguments: StorageStrategy.allCases)
  func reentrantSend(storage: StorageStrategy) {
    let journal = Journal()
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let delegates = (0..<3).map { RecordingObserver($0, journal: journal) }
    for delegate in delegates { hub += delegate }
    hub.forEach { delegate in
      delegate.receive(1)
      if delegate.id == 1 { hub.invoke { $0.receive(2) } }
    }
    #expect(journal.take() == [0, 1, 0, 1, 2, 2])
  }
}
