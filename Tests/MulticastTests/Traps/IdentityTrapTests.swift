// `forEach` of a hub is under test here, not that of `Sequence`.

import MulticastTestSupport
import Testing

@testable import Multicast

/// A delegate that leaves its hub when it goes away.
private final class Leaver: Observing {
  let id: Int
  private let hub: MulticastDelegate<any Observing>
  private let journal: Journal

  init(_ id: Int, hub: MulticastDelegate<any Observing>, journal: Journal) {
    self.id = id
    self.hub = hub
    self.journal = journal
  }

  deinit {
    journal.record(hub.remove(self) ? 1 : 0)
  }

  func receive(_ value: Int) {}
}

@Suite("Traps: identity and weak references")
struct IdentityTrapTests {
  @Test("T10: remove(self) from deinit leaves no dead entry", arguments: StorageStrategy.allCases)
  func removeFromDeinit(storage: StorageStrategy) {
    let journal = Journal()
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let neighbours = (0..<2).map { RecordingObserver($0) }
    hub += neighbours[0]
    do {
      let leaver = Leaver(7, hub: hub, journal: journal)
      hub += leaver
      hub += neighbours[1]
    }
    #expect(journal.take() == [1])
    #expect(hub.registeredEntries == 2)
    #expect(hub.prune() == 0)
    #expect(hub.map(\.id) == [0, 1])
  }

  @Test(
    "T11: a new object at the address of a dead one is no duplicate of it",
    arguments: StorageStrategy.allCases, DuplicatePolicy.allCases)
  func addressReuse(storage: StorageStrategy, duplicates: DuplicatePolicy) {
    let hub = MulticastDelegate<any Observing>(storage: storage, duplicates: duplicates)
    var old: [Registration<any Observing>] = []
    // The allocator reuses the address as soon as it is free.
    for round in 0..<200 {
      let delegate = RecordingObserver(round)
      #expect(!hub.contains(delegate))
      #expect(hub[delegate] == nil)
      let registration = hub.add(delegate)
      #expect(registration.isActive)
      #expect(hub.contains(delegate))
      #expect(hub.map(\.id) == [round])
      old.last?.cancel()
      #expect(old.allSatisfy { !$0.isActive })
      #expect(registration.isActive, "the registration of a dead one does not touch this one")
      #expect(hub.count == 1)
      old.append(registration)
    }
    #expect(hub.isEmpty)
  }

  @Test(
    "T11: an object at the address of a dead one was not registered",
    arguments: StorageStrategy.allCases, DuplicatePolicy.allCases)
  func removalAtAReusedAddress(storage: StorageStrategy, duplicates: DuplicatePolicy) {
    let hub = MulticastDelegate<any Observing>(storage: storage, duplicates: duplicates)
    for round in 0..<200 {
      hub += RecordingObserver(round)
      let other = RecordingObserver()
      #expect(!hub.contains(other))
      #expect(!hub.remove(other))
      let registration = hub.add(other)
      #expect(hub.remove(other))
      #expect(!registration.isActive)
    }
    hub.prune()
    #expect(hub.registeredEntries == 0)
  }

  @Test(
    "T11: the registration of a dead one does not end another's",
    arguments: StorageStrategy.allCases)
  func theDeadEndNoOther(storage: StorageStrategy) {
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let registrations = (0..<50).map { hub.add(RecordingObserver($0)) }
    let delegates = (0..<50).map { RecordingObserver($0) }
    for delegate in delegates { hub += delegate }
    for registration in registrations {
      registration.cancel()
      #expect(registration.cancelAndWait(timeout: .zero))
    }
    #expect(hub.count == 50)
    #expect(hub.prune() == 0)
  }

  @Test("T11: a snapshot does not take a handler at the address of an ended reader for one")
  func readersAtAReusedAddress() {
    let hub = TopicHub<String, Int>(retention: .last(1))
    let first = hub.subscribe(to: "topic") { _ in }
    for _ in 0..<100 {
      var reader: TopicReader<Int>? = hub.reader(for: ["topic"], from: .live) {}
      let readers = hub.readers
      #expect(readers.count == 1)
      // In a snapshot, another thread or a `deinit` may do this between the two.
      reader?.cancel()
      reader = nil
      let handlers = (0..<40).map { _ in hub.subscribe(to: "topic") { _ in } }
      let receivers = hub.topics.hub(of: "topic")?.receivers(readers: readers) ?? []
      #expect(receivers.map(\.kind) == Array(repeating: "handler", count: 41))
      for handler in handlers { handler.cancel() }
    }
    first.cancel()
  }

  @Test(
    "T12: cancelling twice with an add in between does not hit the new one",
    arguments: StorageStrategy.allCases, DuplicatePolicy.allCases)
  func cancellingTwiceWithAnAddInBetween(storage: StorageStrategy, duplicates: DuplicatePolicy) {
    let hub = MulticastDelegate<any Observing>(storage: storage, duplicates: duplicates)
    let delegate = RecordingObserver()
    for _ in 0..<50 {
      let registration = hub.add(delegate)
      registration.cancel()
      let next = hub.add(delegate)
      registration.cancel()
      #expect(registration.cancelAndWait(timeout: .zero))
      #expect(next.isActive)
      #expect(hub.count == 1)
      next.cancel()
    }
    #expect(hub.isEmpty)
  }

  @Test(
    "T14: several dead in a row, first, last and in the middle: none is skipped",
    arguments: StorageStrategy.allCases)
  func severalDeadInARow(storage: StorageStrategy) {
    // Every pattern of dead and alive among eight.
    for pattern in 0..<256 {
      let journal = Journal()
      let hub = MulticastDelegate<any Observing>(storage: storage)
      var delegates = (0..<8).map {
        RecordingObserver?.some(RecordingObserver($0, journal: journal))
      }
      for delegate in delegates { hub += delegate! }
      let alive = (0..<8).filter { pattern >> $0 & 1 == 1 }
      for id in 0..<8 where pattern >> id & 1 == 0 { delegates[id] = nil }
      hub.forEach { $0.receive(1) }
      #expect(journal.take() == alive)
      #expect(hub.registeredEntries == alive.count, "that invocation has pruned")
      hub.forEach { $0.receive(1) }
      #expect(journal.take() == alive)
    }
  }

  @Test(
    "T15: a workload that adds and dies keeps storage small", arguments: StorageStrategy.allCases)
  func aWorkloadThatOnlyDies(storage: StorageStrategy) {
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let survivors = (0..<3).map { RecordingObserver($0) }
    for survivor in survivors { hub += survivor }
    for id in 0..<5_000 {
      hub += RecordingObserver(id)
      #expect(hub.registeredEntries <= 16)
    }
    #expect(hub.count == 3)
  }

  @Test(
    "T15: after many have died, storage shrinks", arguments: StorageStrategy.allCases)
  func storageShrinks(storage: StorageStrategy) {
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let survivor = RecordingObserver()
    hub += survivor
    do {
      let crowd = (0..<5_000).map { RecordingObserver($0) }
      for delegate in crowd { hub += delegate }
      #expect(hub.capacity >= 5_000)
    }
    hub.forEach { $0.receive(1) }
    #expect(hub.registeredEntries == 1)
    #expect(hub.capacity <= 16)
  }

  @Test(
    "T16: a dead delegate is no wildcard", arguments: StorageStrategy.allCases)
  func aDeadDelegateIsNoWildcard(storage: StorageStrategy) {
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let alive = (0..<5).map { RecordingObserver($0) }
    var registrations: [Registration<any Observing>] = []
    for delegate in alive {
      registrations.append(hub.add(RecordingObserver(99)))
      hub += delegate
    }
    for registration in registrations { registration.cancel() }
    #expect(hub.map(\.id) == [0, 1, 2, 3, 4])
    #expect(alive.allSatisfy { hub.contains($0) })
  }

  @Test("T17: a struct is no object, whatever a cast says", arguments: StorageStrategy.allCases)
  func aStructIsNoObject(storage: StorageStrategy) {
    let value: any Listening = RecordingValue(1, journal: Journal())
    let object: any Listening = RecordingObserver(1)
    #expect(Entry.classInstance(value) == nil)
    #expect(Entry.classInstance(object) != nil)
    #expect(Entry.classInstance(object as Any) === object as AnyObject)
    #expect(Entry.classInstance(RecordingActor(1)) != nil)
    #expect(Entry.classInstance(3) == nil)
    #expect(Entry.classInstance("text") == nil)
    #expect(Entry.classInstance(RecordingObserver.self) == nil, "a type is no instance")
    let hub = MulticastDelegate<any Listening>(storage: storage)
    hub.add(value, ownership: .strong)
    hub += object
    #expect(hub.count == 2, "beside each other in one hub")
  }

  @Test(
    "T18: the last strong reference goes away on another thread during the call",
    arguments: StorageStrategy.allCases)
  func lastReferenceGoesAwayDuringTheCall(storage: StorageStrategy) {
    let tracker = LifetimeTracker()
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let holder = Holder(RecordingObserver(tracker: tracker))
    let registration = hub.add(holder.value!)
    let inside = Gate("inside the callback")
    let dropped = Gate("dropped")
    runConcurrently {
      hub.forEach { delegate in
        inside.open()
        dropped.wait()
        #expect(tracker.live == 1)
        delegate.receive(1)
      }
    } and: {
      inside.wait()
      holder.value = nil
      dropped.open()
    }
    #expect(tracker.live == 0)
    #expect(!registration.isActive)
    #expect(hub.isEmpty)
  }
}
