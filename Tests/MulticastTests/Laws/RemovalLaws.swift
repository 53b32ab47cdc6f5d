// `forEach` of a hub is under test here, not that of `Sequence`.

import Multicast
import MulticastTestSupport
import Synchronization
import Testing

/// The ways to end a registration.
enum Removal: CaseIterable {
  case remove
  case operatorForm
  case cancel
  case removeAll

  func end(
    _ delegate: any Observing, _ registration: Registration<any Observing>,
    in hub: MulticastDelegate<any Observing>
  ) {
    switch self {
    case .remove: #expect(hub.remove(delegate))
    case .operatorForm: hub -= delegate
    case .cancel: registration.cancel()
    case .removeAll: hub.removeAll()
    }
  }
}

@Suite("Promise 2: a delegate removed during an invocation is not called later in it")
struct RemovalLaws {
  @Test(
    "removed during an invocation is not called later in it",
    arguments: StorageStrategy.allCases, Removal.allCases)
  func removedDelegateIsNotCalledLater(storage: StorageStrategy, removal: Removal) {
    let journal = Journal()
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let delegates = (0..<40).map { RecordingObserver($0, journal: journal) }
    let registrations = delegates.map { hub.add($0) }
    hub.forEach { delegate in
      delegate.receive(1)
      guard delegate.id == 1 else { return }
      // So many that the list is compacted while it is being read.
      for index in 2..<39 where removal != .removeAll {
        removal.end(delegates[index], registrations[index], in: hub)
      }
      if removal == .removeAll { hub.removeAll() }
    }
    #expect(journal.take() == (removal == .removeAll ? [0, 1] : [0, 1, 39]))
    #expect(registrations[2...38].allSatisfy { !$0.isActive })
    hub.forEach { $0.receive(1) }
    #expect(journal.take() == (removal == .removeAll ? [] : [0, 1, 39]))
  }

  @Test(
    "removed by another thread is not called later either",
    arguments: StorageStrategy.allCases, Removal.allCases)
  func removedByAnotherThread(storage: StorageStrategy, removal: Removal) {
    let journal = Journal()
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let delegates = (0..<3).map { RecordingObserver($0, journal: journal) }
    let registrations = delegates.map { hub.add($0) }
    let inside = Gate("inside the first callback")
    let removed = Gate("removed")
    runConcurrently {
      hub.forEach { delegate in
        inside.open()
        removed.wait()
        delegate.receive(1)
      }
    } and: {
      inside.wait()
      removal.end(delegates[1], registrations[1], in: hub)
      removed.open()
    }
    #expect(journal.take() == (removal == .removeAll ? [0] : [0, 2]))
  }

  @Test(
    "cancel and remove never block, and a call that had passed its check may still run",
    arguments: StorageStrategy.allCases, Removal.allCases)
  func removalNeverBlocks(storage: StorageStrategy, removal: Removal) {
    let (hub, delegate, registration) = makeHub(storage)
    let inside = Gate("inside the callback")
    let removed = Gate("removed")
    runConcurrently {
      hub.forEach { delegate in
        inside.open()
        removed.wait()  // It opens only if the removal does not wait for this callback.
        delegate.receive(1)
      }
    } and: {
      inside.wait()
      removal.end(delegate, registration, in: hub)
      removed.open()
    }
    #expect(delegate.calls == 1)
    #expect(hub.isEmpty)
  }

  @Test("removing oneself is possible", arguments: StorageStrategy.allCases, Removal.allCases)
  func removingOneself(storage: StorageStrategy, removal: Removal) {
    let journal = Journal()
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let delegates = (0..<3).map { RecordingObserver($0, journal: journal) }
    let registrations = delegates.map { hub.add($0) }
    hub.forEach { delegate in
      delegate.receive(1)
      if delegate.id == 1 { removal.end(delegate, registrations[1], in: hub) }
    }
    #expect(journal.take() == (removal == .removeAll ? [0, 1] : [0, 1, 2]))
    #expect(!hub.contains(delegates[1]))
  }
}
