// `forEach` of a hub is under test here, not that of `Sequence`.

import Multicast
import MulticastTestSupport
import Testing

@Suite("Every kind of delegate")
struct DelegateKindTests {
  @Test(
    "delegates of every kind are called in order, found, removed, and gone when they die",
    arguments: StorageStrategy.allCases, DelegateKind.allCases)
  func wholeLifeOfADelegate(storage: StorageStrategy, kind: DelegateKind) {
    kind.check(WholeLife(storage: storage))
  }

  @Test(
    "a hub made of delegates holds them weakly and in order", arguments: DelegateKind.allCases)
  func hubOfInitialDelegates(kind: DelegateKind) {
    kind.check(InitialDelegates())
  }

  @Test("a value can be added strongly", arguments: StorageStrategy.allCases)
  func valueAddedStrongly(storage: StorageStrategy) {
    let journal = Journal()
    let hub = MulticastDelegate<any Listening>(storage: storage)
    let value = RecordingValue(1, journal: journal)
    let registration = hub.add(value, ownership: .strong)
    hub.add(RecordingValue(2, journal: journal), ownership: .strong)
    #expect(hub.count == 2)
    hub.forEach { $0.receive(1) }
    #expect(journal.take() == [1, 2])
    // It has no identity: only its registration finds it.
    #expect(!hub.contains(value))
    #expect(!hub.remove(value))
    #expect(hub[value] == nil)
    registration.cancel()
    hub.forEach { $0.receive(1) }
    #expect(journal.take() == [2])
  }

  @Test("closures and numbers can be added strongly", arguments: StorageStrategy.allCases)
  func plainValuesAddedStrongly(storage: StorageStrategy) {
    let journal = Journal()
    let closures = MulticastDelegate<@Sendable (Int) -> Void>(storage: storage)
    closures.add({ journal.record($0) }, ownership: .strong)
    closures.add({ journal.record($0 + 1) }, ownership: .strong)
    closures.invoke { $0(10) }
    #expect(journal.entries == [10, 11])
    let numbers = MulticastDelegate<Int>(storage: storage, duplicates: .ignore)
    for number in [3, 3, 4] { numbers.add(number, ownership: .strong) }
    #expect(numbers.delegates == [3, 3, 4], "values are never duplicates")
  }
}

private struct WholeLife: DelegateLaw {
  let storage: StorageStrategy

  func check<Delegate: Sendable>(_ sample: Sample<Delegate>) {
    let journal = Journal()
    let tracker = LifetimeTracker()
    let hub = MulticastDelegate<Delegate>(storage: storage)
    var delegates = (0..<5).map { sample.make($0, journal, tracker) }
    let registrations = delegates.map { hub.add($0) }
    #expect(hub.count == 5)
    hub.forEach(sample.call)
    #expect(hub.invoke(sample.call) == 5)
    #expect(journal.take() == [0, 1, 2, 3, 4, 0, 1, 2, 3, 4])
    for (index, delegate) in delegates.enumerated() {
      #expect(hub.contains(delegate))
      #expect(hub[delegate] == index)
    }
    #expect(hub.remove(delegates[1]))
    #expect(!hub.remove(delegates[1]))
    registrations[3].cancel()
    hub.forEach(sample.call)
    #expect(journal.take() == [0, 2, 4])
    delegates.removeAll()
    #expect(tracker.live == 0, "the hub kept a delegate alive")
    #expect(hub.isEmpty)
    #expect(registrations.allSatisfy { !$0.isActive })
    hub.forEach(sample.call)
    #expect(journal.take() == [])
    hub.add(sample.make(7, journal, tracker), ownership: .strong)
    #expect(tracker.live == 1)
    hub.forEach(sample.call)
    #expect(journal.take() == [7])
    hub.removeAll()
    #expect(tracker.live == 0)
  }
}

private struct InitialDelegates: DelegateLaw {
  func check<Delegate: Sendable>(_ sample: Sample<Delegate>) {
    let journal = Journal()
    let tracker = LifetimeTracker()
    var delegates = (0..<9).map { sample.make($0, journal, tracker) }
    let hub = MulticastDelegate(delegates)
    hub.invoke(sample.call)
    #expect(journal.entries == Array(0..<9))
    delegates = []
    #expect(hub.isEmpty)
    #expect(tracker.live == 0)
  }
}
