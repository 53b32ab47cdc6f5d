// `forEach` of a hub is under test here, not that of `Sequence`.

import Dispatch
import Multicast
import MulticastTestSupport
import Testing

@Suite("Duplicates")
struct DuplicatePolicyTests {
  @Test(
    "ignored: the registration that exists stays, with its position and ownership",
    arguments: StorageStrategy.allCases, [Ownership.weak, .strong])
  func ignored(storage: StorageStrategy, ownership: Ownership) {
    let tracker = LifetimeTracker()
    let hub = MulticastDelegate<any Observing>(storage: storage, duplicates: .ignore)
    var first: RecordingObserver? = RecordingObserver(1, tracker: tracker)
    let second = RecordingObserver(2)
    let existing = hub.add(first!, ownership: ownership)
    hub += second
    let again = hub.add(first!)
    #expect(existing.isActive)
    #expect(hub.map(\.id) == [1, 2])
    first = nil
    #expect(tracker.live == (ownership == .strong ? 1 : 0))
    // Both are handles of one registration.
    again.cancel()
    #expect(!existing.isActive)
    #expect(hub.map(\.id) == [2])
    #expect(tracker.live == 0)
  }

  @Test(
    "ignored: one that asks for strong ownership gets it, in the same position",
    arguments: StorageStrategy.allCases)
  func ignoredButStrong(storage: StorageStrategy) {
    let tracker = LifetimeTracker()
    let hub = MulticastDelegate<any Observing>(storage: storage)
    var first: RecordingObserver? = RecordingObserver(1, tracker: tracker)
    let second = RecordingObserver(2)
    let weak = hub.add(first!)
    hub += second
    let strong = hub.add(first!, ownership: .strong)
    hub.add(first!)
    first = nil
    #expect(tracker.live == 1)
    #expect(hub.map(\.id) == [1, 2])
    #expect(!weak.isActive)
    weak.cancel()
    #expect(hub.count == 2, "the old handle does not end the new registration")
    strong.cancel()
    #expect(tracker.live == 0)
    #expect(hub.map(\.id) == [2])
  }

  @Test(
    "ignored: one that asks for a queue gets it, and keeps the ownership",
    arguments: StorageStrategy.allCases)
  func ignoredButOnAQueue(storage: StorageStrategy) async {
    let tracker = LifetimeTracker()
    let journal = Journal()
    let queues = (0..<2).map { DispatchQueue(label: "queue \($0)") }
    for queue in queues { queue.suspend() }
    let hub = MulticastDelegate<any Observing>(storage: storage)
    var first: RecordingObserver? = RecordingObserver(1, journal: journal, tracker: tracker)
    hub.add(first!, ownership: .strong)
    let onFirst = hub.add(first!, on: queues[0])
    #expect(hub.invoke { $0.receive(1) } == 1)
    #expect(journal.entries == [], "it is called on the queue")
    // The same terms again: nothing changes, and nothing is discarded.
    hub.add(first!, on: queues[0])
    #expect(onFirst.isActive)
    #expect(onFirst.statistics?.pending == 1)
    // Another buffering and another queue: what waits for the old one is discarded and counted.
    hub.add(first!, on: queues[0], buffering: .latest)
    #expect(onFirst.statistics?.discarded == 1)
    let onSecond = hub.add(first!, on: queues[1])
    first = nil
    #expect(tracker.live == 1, "it is still strong")
    #expect(hub.count == 1)
    hub.invoke { $0.receive(1) }
    queues[0].resume()
    await eventually { onFirst.statistics?.pending == 0 }
    #expect(journal.entries == [])
    queues[1].resume()
    await hub.flush()
    #expect(journal.entries == [1])
    onSecond.cancel()
    await eventually { tracker.live == 0 }
  }

  @Test(
    "ignored: strong ownership for one on a queue keeps the queue",
    arguments: StorageStrategy.allCases)
  func ignoredButStrongOnAQueue(storage: StorageStrategy) {
    let journal = Journal()
    let queue = DispatchQueue(label: "queue")
    let hub = MulticastDelegate<any Observing>(storage: storage)
    hub.add(RecordingObserver(1, journal: journal), ownership: .strong, on: queue)
    let delegate = hub[0]!
    queue.suspend()
    hub.add(delegate, ownership: .strong)
    hub.invoke { $0.receive(1) }
    #expect(journal.entries == [])
    queue.resume()
    hub.flush(timeout: .seconds(60))
    #expect(journal.entries == [1])
  }

  @Test(
    "ignored: an `add` that returned before the invocation began is seen, also after a full buffer",
    arguments: StorageStrategy.allCases, [false, true])
  func ignoredButDisconnected(storage: StorageStrategy, namesQueue: Bool) async {
    let journal = Journal()
    let queue = DispatchQueue(label: "queue")
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let delegate = ActingObserver { _, value in journal.record(value) }
    let buffering = QueueBuffering.bounded(2, whenFull: .disconnect)
    let old = hub.add(delegate, on: queue, buffering: buffering)
    queue.suspend()
    #expect((0..<3).map { value in hub.invoke { $0.receive(value) } } == [1, 1, 0])
    let new =
      namesQueue ? hub.add(delegate, on: queue, buffering: buffering) : hub.add(delegate)
    #expect(!old.isActive && new.isActive && hub.count == 1)
    #expect(old.statistics?.discarded == 2, "what waited for the old one")
    #expect((3..<6).map { value in hub.invoke { $0.receive(value) } } == [1, 1, 0])
    queue.resume()
    await eventually { !new.isActive }
    #expect(journal.entries == [3, 4])
    #expect(new.statistics?.dropped == 1)
    #expect(hub.isEmpty)
  }

  @Test(
    "ignored: no invocation calls a delegate twice while it gets other terms",
    arguments: StorageStrategy.allCases)
  func ignoredRacing(storage: StorageStrategy) {
    struct State: Sendable {
      let journal = Journal()
      let delegates: [RecordingObserver]
      let hub: MulticastDelegate<any Observing>

      init(_ storage: StorageStrategy) {
        delegates = [1, 2].map { [journal] in RecordingObserver($0, journal: journal) }
        hub = MulticastDelegate(storage: storage)
        for delegate in delegates { hub += delegate }
      }
    }
    let outcomes: [[[Int]]: Int] = race(
      rounds: 2_000,
      setUp: { State(storage) },
      actors: [
        { $0.hub.forEach { $0.receive(1) } },
        { $0.hub.add($0.delegates[0], ownership: .strong) },
        { $0.hub.add($0.delegates[1], ownership: .strong) },
      ],
      outcome: { state in
        let during = state.journal.take()
        state.hub.forEach { $0.receive(1) }
        return [during, state.journal.take()]
      })
    for (outcome, _) in outcomes {
      // The replaced one may be passed over, never called twice.
      #expect([[1, 2], [1], [2], []].contains(outcome[0]))
      #expect(outcome[1] == [1, 2])
    }
  }

  /// A hub with one delegate, which only `holder` keeps besides.
  private struct OneDelegate: Sendable {
    let holder = Holder<RecordingObserver>(RecordingObserver(1))
    let queue = DispatchQueue(label: "queue")
    let hub: MulticastDelegate<any Observing>

    init(_ storage: StorageStrategy, ownership: Ownership) {
      hub = MulticastDelegate(storage: storage)
      hub.add(holder.value!, ownership: ownership)
    }

    /// Whether the delegate is registered, on a queue, strongly. Gives the delegate up.
    func terms() -> [Bool] {
      let isRegistered = hub.contains(holder.value!)
      let isOnQueue = isRegistered && hub.add(holder.value!).statistics != nil
      if !isRegistered { hub.removeAll() }
      holder.value = nil
      return [isRegistered, isOnQueue, hub.count == 1]
    }
  }

  @Test(
    "ignored: of two that ask for more at once, each gets what it asks for",
    arguments: StorageStrategy.allCases)
  func ignoredRacingForOne(storage: StorageStrategy) {
    let outcomes: [[Bool]: Int] = race(
      rounds: 2_000,
      setUp: { OneDelegate(storage, ownership: .weak) },
      actors: [
        { $0.hub.add($0.holder.value!, ownership: .strong) },
        { $0.hub.add($0.holder.value!, on: $0.queue) },
      ],
      outcome: { $0.terms() })
    #expect(Array(outcomes.keys) == [[true, true, true]])
  }

  @Test(
    "ignored: one that asks for more gets nothing of a registration that was removed before",
    arguments: StorageStrategy.allCases)
  func ignoredRacingWithRemove(storage: StorageStrategy) {
    let outcomes: [[Bool]: Int] = race(
      rounds: 2_000,
      setUp: { OneDelegate(storage, ownership: .strong) },
      actors: [
        { _ = $0.hub.remove($0.holder.value!) },
        { $0.hub.add($0.holder.value!, on: $0.queue) },
      ],
      outcome: { $0.terms() })
    // Removed last; or added last, weakly.
    for (outcome, _) in outcomes {
      #expect([[false, false, false], [true, true, false]].contains(outcome))
    }
  }

  @Test("allowed: one call for each registration", arguments: StorageStrategy.allCases)
  func allowed(storage: StorageStrategy) {
    let journal = Journal()
    let hub = MulticastDelegate<any Observing>(storage: storage, duplicates: .allow)
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
    let hub = MulticastDelegate<any Observing>(storage: storage, duplicates: .replace)
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
    let hub = MulticastDelegate<any Observing>(storage: storage, duplicates: .replace)
    var delegate: RecordingObserver? = RecordingObserver(tracker: tracker)
    hub.add(delegate!)
    hub.add(delegate!, ownership: .strong)
    delegate = nil
    #expect(tracker.live == 1)
    hub.add(hub[0]!)
    #expect(tracker.live == 0)
  }

  @Test(
    "replaced during an invocation: called in the old position, or by the next invocation",
    arguments: StorageStrategy.allCases, [0, 1, 2])
  func replacedDuringAnInvocation(storage: StorageStrategy, replaced: Int) {
    let journal = Journal()
    let hub = MulticastDelegate<any Observing>(storage: storage, duplicates: .replace)
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
    // The last one had not been called: it counts as removed.
    #expect(journal.take() == (replaced == 2 ? [0, 1] : [0, 1, 2]), "never both")
    hub.forEach { $0.receive(1) }
    #expect(journal.take().last == replaced)
  }

  @Test(
    "replaced and then removed during an invocation: not called later in it",
    arguments: StorageStrategy.allCases)
  func replacedAndRemovedDuringAnInvocation(storage: StorageStrategy) {
    let journal = Journal()
    let hub = MulticastDelegate<any Observing>(storage: storage, duplicates: .replace)
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
