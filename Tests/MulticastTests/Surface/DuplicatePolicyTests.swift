// `forEach` of a hub is not the one of a sequence: it is what is tested.

import Multicast
import MulticastTestSupport
import Testing

@Suite("Duplicates")
struct DuplicatePolicyTests {
  @Test(
    "ignored: the registration that exists stays, with its place and ownership",
    arguments: StorageStrategy.allCases)
  func ignored(storage: StorageStrategy) {
    let tracker = LifetimeTracker()
    let hub = MulticastDelegate<any Observing>(storage: storage, duplicates: .ignored)
    var first: RecordingObserver? = RecordingObserver(1, tracker: tracker)
    let second = RecordingObserver(2)
    let existing = hub.add(first!)
    hub += second
    let again = hub.add(first!, ownership: .strong)
    #expect(hub.map(\.id) == [1, 2])
    // Both are handles of one registration.
    again.cancel()
    #expect(!existing.isActive)
    #expect(hub.map(\.id) == [2])
    hub.add(first!)
    first = nil
    #expect(tracker.live == 0)
  }

  @Test("allowed: one call for each registration", arguments: StorageStrategy.allCases)
  func allowed(storage: StorageStrategy) {
    let journal = Journal()
    let hub = MulticastDelegate<any Observing>(storage: storage, duplicates: .allowed)
    let (first, second) = (
      RecordingObserver(1, journal: journal), RecordingObserver(2, journal: journal)
    )
    let registrations = [hub.add(first), hub.add(second), hub.add(first), hub.add(first)]
    #expect(hub.count == 4)
    #expect(hub[first] == 0)
    hub.forEach { $0.receive(1) }
    #expect(journal.take() == [1, 2, 1, 1])
    registrations[2].cancel()
    #expect(registrations.map(\.isActive) == [true, true, false, true])
    hub.forEach { $0.receive(1) }
    #expect(journal.take() == [1, 2, 1])
    #expect(hub.remove(first), "remove ends every registration")
    #expect(!hub.contains(first))
    #expect(registrations.map(\.isActive) == [false, true, false, false])
    hub.forEach { $0.receive(1) }
    #expect(journal.take() == [2])
  }

  @Test("replaced: the new one goes to the end", arguments: StorageStrategy.allCases)
  func replaced(storage: StorageStrategy) {
    let hub = MulticastDelegate<any Observing>(storage: storage, duplicates: .replaced)
    let delegates = (0..<3).map { RecordingObserver($0) }
    let registrations = delegates.map { hub.add($0) }
    let replacing = hub.add(delegates[0])
    #expect(hub.map(\.id) == [1, 2, 0])
    #expect(!registrations[0].isActive)
    #expect(replacing.isActive)
    registrations[0].cancel()
    #expect(hub.count == 3, "the old handle does not end the new registration")
    replacing.cancel()
    #expect(hub.map(\.id) == [1, 2])
  }

  @Test(
    "replaced: the new one has its own ownership", arguments: StorageStrategy.allCases)
  func replacedOwnership(storage: StorageStrategy) {
    let tracker = LifetimeTracker()
    let hub = MulticastDelegate<any Observing>(storage: storage, duplicates: .replaced)
    var delegate: RecordingObserver? = RecordingObserver(tracker: tracker)
    hub.add(delegate!)
    hub.add(delegate!, ownership: .strong)
    delegate = nil
    #expect(tracker.live == 1)
    hub.add(hub[0]!)
    #expect(tracker.live == 0)
  }

  @Test(
    "replaced during an invocation: called in the old place, or by the next invocation",
    arguments: StorageStrategy.allCases, [0, 1, 2])
  func replacedDuringAnInvocation(storage: StorageStrategy, replaced: Int) {
    let journal = Journal()
    let hub = MulticastDelegate<any Observing>(storage: storage, duplicates: .replaced)
    let delegates = (0..<3).map { RecordingObserver($0, journal: journal) }
    for delegate in delegates { hub += delegate }
    var done = false
    hub.forEach { delegate in
      delegate.receive(1)
      guard delegate.id == 1, !done else { return }
      done = true
      // So often that the list is compacted while it is being read.
      for _ in 0..<40 { hub += delegates[replaced] }
    }
    // The last one had not had its turn: it counts as removed.
    #expect(journal.take() == (replaced == 2 ? [0, 1] : [0, 1, 2]), "never both")
    hub.forEach { $0.receive(1) }
    #expect(journal.take().last == replaced)
  }

  @Test(
    "replaced and then removed during an invocation: not called later in it",
    arguments: StorageStrategy.allCases)
  func replacedAndRemovedDuringAnInvocation(storage: StorageStrategy) {
    let journal = Journal()
    let hub = MulticastDelegate<any Observing>(storage: storage, duplicates: .replaced)
    let delegates = (0..<3).map { RecordingObserver($0, journal: journal) }
    for delegate in delegates { hub += delegate }
    hub.forEach { delegate in
      delegate.receive(1)
      guard delegate.id == 0 else { return }
      hub += delegates[2]
      hub -= delegates[2]
    }
    #expect(journal.take() == [0, 1])
  }
}
