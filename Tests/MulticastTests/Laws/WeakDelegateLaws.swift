// `forEach` of a hub is under test here, not that of `Sequence`.

import Multicast
import MulticastTestSupport
import Testing

@Suite("Promise 4: a weak delegate is retained for exactly its call")
struct WeakDelegateLaws {
  @Test("it is retained for exactly its call", arguments: StorageStrategy.allCases)
  func retainedForExactlyItsCall(storage: StorageStrategy) {
    let tracker = LifetimeTracker()
    let journal = Journal()
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let holders = (0..<4).map {
      Holder(RecordingObserver($0, journal: journal, tracker: tracker))
    }
    for holder in holders { hub += holder.value! }
    hub.forEach { delegate in
      #expect(tracker.destroyed == delegate.id, "the one before is gone")
      holders[delegate.id].value = nil
      #expect(tracker.destroyed == delegate.id, "this one lives as long as its call")
      delegate.receive(1)
    }
    #expect(tracker.live == 0)
    #expect(journal.take() == [0, 1, 2, 3])
  }

  @Test("a call does not keep the others alive", arguments: StorageStrategy.allCases)
  func aCallDoesNotKeepTheOthersAlive(storage: StorageStrategy) {
    let tracker = LifetimeTracker()
    let journal = Journal()
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let holders = (0..<3).map {
      Holder(RecordingObserver($0, journal: journal, tracker: tracker))
    }
    for holder in holders { hub += holder.value! }
    hub.forEach { delegate in
      delegate.receive(1)
      guard delegate.id == 0 else { return }
      holders[1].value = nil
      #expect(tracker.destroyed == 1)
    }
    #expect(journal.take() == [0, 2])
  }

  @Test(
    "a dead one is never called, never counted, and is pruned",
    arguments: StorageStrategy.allCases,
    [[0], [4], [0, 1], [3, 4], [1, 2, 3], [0, 2, 4], [0, 1, 2, 3, 4]])
  func theDeadAreNeverCalledNorCounted(storage: StorageStrategy, dead: [Int]) {
    let journal = Journal()
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let holders = (0..<5).map { Holder(RecordingObserver($0, journal: journal)) }
    let registrations = holders.map { hub.add($0.value!) }
    let alive = (0..<5).filter { !dead.contains($0) }
    for id in dead { holders[id].value = nil }
    // Reading prunes, so each of these gets a hub with unpruned dead delegates.
    #expect(registrations.map(\.isActive) == (0..<5).map { alive.contains($0) })
    #expect(hub.map(\.id) == alive)
    #expect(hub.prune() == dead.count)
    #expect(hub.prune() == 0)
    #expect(hub.count == alive.count)
    #expect(hub.isEmpty == alive.isEmpty)
    #expect(hub.delegates.map(\.id) == alive)
    #expect(hub[alive.count] == nil)
    hub.forEach { $0.receive(1) }
    #expect(journal.take() == alive)
  }

  @Test(
    "each way of reading passes over the dead", arguments: StorageStrategy.allCases,
    Reading.allCases)
  func eachWayOfReadingPassesOverTheDead(storage: StorageStrategy, reading: Reading) {
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let holders = (0..<6).map { Holder(RecordingObserver($0)) }
    for holder in holders { hub += holder.value! }
    for id in [0, 1, 3, 5] { holders[id].value = nil }
    #expect(reading.ids(of: hub) == [2, 4])
    #expect(reading.ids(of: hub) == [2, 4], "and again, after that one has pruned")
  }

  /// The ways to read a hub.
  enum Reading: CaseIterable {
    case forEach, invoke, results, delegates, iteration, subscripts, count, firstResult, lastResult

    func ids(of hub: MulticastDelegate<any Observing>) -> [Int] {
      switch self {
      case .forEach:
        var ids: [Int] = []
        hub.forEach { ids.append($0.id) }
        return ids
      case .invoke:
        let journal = Journal()
        let called = hub.invoke { journal.record($0.id) }
        #expect(called == journal.entries.count)
        return journal.entries
      case .results: return hub.results { $0.id }.map { $0.get() }
      case .delegates: return hub.delegates.map(\.id)
      case .iteration: return hub.map(\.id)
      case .subscripts:
        return [hub[0], hub[1], hub[2]].compactMap { $0?.id }
      case .count:
        #expect(hub.count == 2)
        #expect(!hub.isEmpty)
        return [2, 4]
      case .firstResult:
        var ids: [Int] = []
        let none: Int? = hub.firstResult {
          ids.append($0.id)
          return nil
        }
        #expect(none == nil)
        return ids
      case .lastResult:
        var ids: [Int] = []
        #expect(
          hub.lastResult { delegate -> Int? in
            ids.append(delegate.id)
            return delegate.id
          } == 4)
        return ids
      }
    }
  }

  @Test(
    "a strong delegate lives until it is removed, and not longer",
    arguments: StorageStrategy.allCases)
  func aStrongDelegateLivesUntilItIsRemoved(storage: StorageStrategy) {
    let tracker = LifetimeTracker()
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let registrations = (0..<3).map {
      hub.add(RecordingObserver($0, tracker: tracker), ownership: .strong)
    }
    #expect(tracker.live == 3)
    #expect(hub.count == 3)
    registrations[1].cancel()
    #expect(tracker.live == 2)
    #expect(hub.remove(hub[1]!))
    #expect(tracker.live == 1)
    hub.removeAll()
    #expect(tracker.live == 0)
  }

  @Test("the end of the hub releases the strong ones", arguments: StorageStrategy.allCases)
  func theEndOfTheHubLetsGo(storage: StorageStrategy) {
    let tracker = LifetimeTracker()
    let registrations: [Registration<any Observing>]
    do {
      let hub = MulticastDelegate<any Observing>(storage: storage)
      registrations = (0..<20).map {
        hub.add(RecordingObserver($0, tracker: tracker), ownership: .strong)
      }
      #expect(tracker.live == 20)
    }
    #expect(tracker.live == 0, "the handles that outlive the hub keep nothing alive")
    for registration in registrations {
      #expect(!registration.isActive)
      registration.cancel()
      #expect(registration.cancelAndWait(timeout: .zero))
    }
  }
}
