import Multicast
import MulticastTestSupport
import Synchronization
import Testing

@Suite(
  "Promise 1 with await: an invocation calls the delegates registered when it began",
  .timeLimit(.minutes(10)))
struct MulticastActorInvocationLaws {
  @Test(
    "in registration order, each exactly once",
    arguments: StorageStrategy.allCases, [0, 1, 4, 5, 33, 100])
  func inRegistrationOrderEachExactlyOnce(storage: StorageStrategy, size: Int) async {
    let journal = Journal()
    let hub = AwaitingHub(storage: storage)
    let delegates: [any Awaited] = (0..<size).map {
      $0 % 3 == 1
        ? AwaitedActor($0, journal: journal) as any Awaited
        : AwaitedObserver($0, journal: journal)
    }
    for delegate in delegates { hub.add(delegate) }
    let expected = Array(0..<size)
    for way in WayOfCalling.allCases {
      await way.call(hub)
      let called = journal.take()
      #expect((way.isOrdered ? called : called.sorted()) == expected, "\(way)")
    }
    let ids = await hub.invokeConcurrently { $0.id }.map { try? $0.get() }
    #expect(ids == expected)
    #expect(hub.delegates.map(\.id) == expected)
    #expect(hub.count == size)
    #expect(hub.isEmpty == (size == 0))
  }

  @Test(
    "one added during an invocation waits for the next one",
    arguments: StorageStrategy.allCases, WayOfCalling.allCases)
  func oneAddedMeanwhileWaits(storage: StorageStrategy, way: WayOfCalling) async {
    let journal = Journal()
    let hub = AwaitingHub(storage: storage)
    let late = (100..<200).map { AwaitedObserver($0, journal: journal) }
    let added = AsyncGate()
    // Every other delegate waits for the addition: it happens while they are suspended.
    let delegates = (0..<3).map { id in
      AwaitedObserver(id, journal: journal) { _ in
        if id == 0 {
          for delegate in late { hub.add(delegate) }
          added.open()
        } else {
          await added.wait()
        }
      }
    }
    for delegate in delegates { hub.add(delegate) }
    await way.call(hub)
    #expect(journal.take().sorted() == [0, 1, 2])
    await way.call(hub)
    #expect(journal.take().sorted() == [0, 1, 2] + Array(100..<200))
  }

  @Test(
    "an add that returned before the invocation began is always seen, without await",
    arguments: StorageStrategy.allCases)
  func anAddThatReturnedIsAlwaysSeen(storage: StorageStrategy) async {
    let hub = AwaitingHub(storage: storage)
    let done = Gate()
    await withTaskGroup { group in
      group.addTask {
        for round in 0..<2_000 {
          let delegate = AwaitedObserver(round)
          let registration = hub.add(delegate)
          await hub.invoke { await $0.receive(1) }
          #expect(delegate.calls == 1)
          registration.cancel()
          await hub.invoke { await $0.receive(1) }
          #expect(delegate.calls == 1)
        }
        done.open()
      }
      group.addTask {
        // Makes and drops the snapshots that the other one relies on.
        while !done.isOpen {
          let delegate = AwaitedObserver(-1)
          hub.add(delegate)
          await hub.invoke { _ in }
          hub.remove(delegate)
          await Task.yield()
        }
      }
    }
    #expect(hub.isEmpty)
  }

  @Test("duplicates are ignored, allowed or replaced", arguments: StorageStrategy.allCases)
  func duplicates(storage: StorageStrategy) async {
    let journal = Journal()
    let first = AwaitedObserver(1, journal: journal)
    let second = AwaitedObserver(2, journal: journal)
    for (policy, expected) in [
      (DuplicatePolicy.ignore, [1, 2]), (.allow, [1, 2, 1]), (.replace, [2, 1]),
    ] {
      let hub = AwaitingHub(storage: storage, duplicates: policy)
      let registration = hub.add(first)
      hub.add(second)
      await hub.invoke { await $0.receive(1) }
      #expect(journal.take() == [1, 2])
      hub.add(first)
      #expect(registration.isActive == (policy != .replace))
      await hub.invoke { await $0.receive(1) }
      #expect(journal.take() == expected, "\(policy)")
    }
  }
}

@Suite(
  "Promise 2 with await: a delegate removed during an invocation is not called later in it",
  .timeLimit(.minutes(10)))
struct MulticastActorRemovalLaws {
  /// The ways to end a registration.
  enum Removal: CaseIterable {
    case remove, cancel, removeAll
  }

  @Test(
    "removed during an invocation is not called later in it",
    arguments: StorageStrategy.allCases, Removal.allCases)
  func removedDelegateIsNotCalledLater(storage: StorageStrategy, removal: Removal) async {
    for way in WayOfCalling.allCases where way.isOrdered {
      let journal = Journal()
      let hub = AwaitingHub(storage: storage)
      let removed = AsyncGate()
      let inside = AsyncGate()
      let delegates = (0..<40).map { id in
        AwaitedObserver(id, journal: journal) { _ in
          guard id == 1 else { return }
          inside.open()
          await removed.wait()
        }
      }
      let registrations = delegates.map { hub.add($0) }
      async let invocation: Void = way.call(hub)
      await inside.wait()
      switch removal {
      case .remove: for delegate in delegates[2..<39] { #expect(hub.remove(delegate)) }
      case .cancel: for registration in registrations[2..<39] { registration.cancel() }
      case .removeAll: hub.removeAll()
      }
      removed.open()
      await invocation
      let expected = removal == .removeAll ? [] : [0, 1, 39]
      #expect(journal.take() == (removal == .removeAll ? [0, 1] : expected))
      #expect(registrations[2..<39].allSatisfy { !$0.isActive })
      await way.call(hub)
      #expect(journal.take() == expected)
    }
  }

  @Test(
    "a child that was removed before it began does not call, and has no result",
    arguments: StorageStrategy.allCases)
  func removedBeforeItsChildBegan(storage: StorageStrategy) async {
    let hub = AwaitingHub(storage: storage)
    let delegates = (0..<5).map { id in
      AwaitedObserver(id) { [weak hub] _ in hub?.removeAll() }
    }
    for delegate in delegates { hub.add(delegate) }
    let results = await hub.invokeConcurrently(limit: 1) { delegate in
      await delegate.receive(1)
      return delegate.id
    }
    #expect(results.map { try? $0.get() } == [0])
    #expect(delegates.map(\.calls) == [1, 0, 0, 0, 0])
  }

  @Test(
    "cancelAndWait returns when a suspended callback has ended, and not before",
    arguments: StorageStrategy.allCases, WayOfCalling.allCases)
  func cancelAndWaitWaitsForASuspendedCall(storage: StorageStrategy, way: WayOfCalling) async {
    let journal = Journal()
    let hub = AwaitingHub(storage: storage)
    let inside = AsyncGate()
    let leave = AsyncGate()
    let delegate = AwaitedObserver(1) { _ in
      inside.open()
      await leave.wait()
      journal.record(1)
    }
    let registration = hub.add(delegate)
    let neighbour = AwaitedObserver(2)
    let other = hub.add(neighbour)
    async let invocation: Void = way.call(hub)
    await inside.wait()
    #expect(!Self.hasEnded(registration), "it is inside")
    if way == .inOrder {
      // A neighbour that is not being called is not waited for.
      await other.cancelAndWait()
    }
    async let waiter: Void = {
      await registration.cancelAndWait()
      journal.record(2)
    }()
    await yieldTask { !registration.isActive }
    leave.open()
    await waiter
    await invocation
    #expect(journal.take() == [1, 2])
    #expect(Self.hasEnded(registration))
    #expect(neighbour.calls == (way == .inOrder ? 0 : 1))
    await way.call(hub)
    #expect(delegate.calls == 1)
  }

  /// Whether the callback is known not to run, without waiting.
  private static func hasEnded(_ registration: Registration<any Awaited>) -> Bool {
    registration.cancelAndWait(timeout: .zero)
  }

  @Test(
    "after cancelAndWait the callback is not running and never will",
    arguments: StorageStrategy.allCases, WayOfCalling.allCases)
  func noCallAfterCancelAndWait(storage: StorageStrategy, way: WayOfCalling) async {
    let tracker = LifetimeTracker()
    let rounds = 300
    let hub = AwaitingHub(storage: storage)
    let done = Gate()
    await withTaskGroup { group in
      group.addTask {
        while !done.isOpen {
          await way.call(hub)
          await Task.yield()  // An invocation that never suspends would keep the thread.
        }
      }
      group.addTask {
        for round in 0..<rounds {
          let delegate = AwaitedObserver(round, tracker: tracker) { _ in await Task.yield() }
          let registration = hub.add(delegate)
          if round % 2 == 0 { await yieldTask { delegate.calls > 0 } }
          await registration.cancelAndWait()
          let calls = delegate.calls
          delegate.poison()
          await Task.yield()
          #expect(delegate.calls == calls)
        }
        done.open()
      }
    }
    #expect(tracker.lateCalls == 0)
    #expect(tracker.created == rounds)
    #expect(tracker.live == 0)
  }
}

@Suite(
  "Promise 4 with await: a weak delegate is retained for exactly its call",
  .timeLimit(.minutes(10)))
struct MulticastActorWeakDelegateLaws {
  @Test("it is retained for exactly its call", arguments: StorageStrategy.allCases)
  func retainedForExactlyItsCall(storage: StorageStrategy) async {
    let tracker = LifetimeTracker()
    let hub = AwaitingHub(storage: storage)
    let holders = (0..<4).map { Holder(AwaitedObserver($0, tracker: tracker)) }
    for holder in holders { hub.add(holder.value!) }
    await hub.invoke { delegate in
      #expect(tracker.destroyed == delegate.id, "the one before is gone")
      holders[delegate.id].value = nil
      await Task.yield()
      #expect(tracker.destroyed == delegate.id, "this one lives as long as its call")
      await delegate.receive(1)
    }
    #expect(tracker.live == 0)
    #expect(hub.isEmpty)
  }

  @Test("also when it is called concurrently", arguments: StorageStrategy.allCases)
  func retainedForItsConcurrentCall(storage: StorageStrategy) async {
    let tracker = LifetimeTracker()
    let hub = AwaitingHub(storage: storage)
    let holders = (0..<4).map { Holder(AwaitedObserver($0, tracker: tracker)) }
    for holder in holders { hub.add(holder.value!) }
    let results = await hub.invokeConcurrently(limit: 2) { delegate in
      holders[delegate.id].value = nil
      await Task.yield()
      await delegate.receive(1)
      return delegate.id
    }
    #expect(results.map { try? $0.get() } == [0, 1, 2, 3])
    #expect(tracker.live == 0)
  }

  @Test(
    "one that dies while the invocation is suspended is not called, not counted, and is pruned",
    arguments: StorageStrategy.allCases, [false, true])
  func oneThatDiesMeanwhileIsNotCalled(storage: StorageStrategy, concurrently: Bool) async {
    let journal = Journal()
    let tracker = LifetimeTracker()
    let hub = AwaitingHub(storage: storage)
    let holders = (0..<3).map {
      Holder(AwaitedObserver($0, journal: journal, tracker: tracker))
    }
    for holder in holders { hub.add(holder.value!) }
    if concurrently {
      let results = await hub.invokeConcurrently(limit: 1) { delegate in
        if delegate.id == 0 { holders[1].value = nil }
        await delegate.receive(1)
        return delegate.id
      }
      #expect(results.map { try? $0.get() } == [0, 2])
    } else {
      await hub.invoke { delegate in
        if delegate.id == 0 { holders[1].value = nil }
        await delegate.receive(1)
      }
    }
    #expect(journal.take() == [0, 2])
    #expect(tracker.live == 2)
    #expect(hub.count == 2)
    #expect(hub.prune() == 0, "the invocation has pruned")
  }

  @Test(
    "the memory kept for the dead is bounded by the live", arguments: StorageStrategy.allCases)
  func memoryForTheDeadIsBounded(storage: StorageStrategy) async {
    let tracker = LifetimeTracker()
    let hub = AwaitingHub(storage: storage)
    for id in 0..<1_000 {
      let delegate = AwaitedObserver(id, tracker: tracker)
      hub.add(delegate)
      await hub.invoke { await $0.receive(1) }
    }
    #expect(hub.isEmpty)
    #expect(hub.prune() <= 4)
    #expect(tracker.live == 0)
  }

  @Test(
    "a strong one is kept until it is removed, and not a moment longer",
    arguments: StorageStrategy.allCases)
  func strongDelegates(storage: StorageStrategy) async {
    let tracker = LifetimeTracker()
    let hub = AwaitingHub(storage: storage)
    hub.add(AwaitedObserver(1, tracker: tracker), ownership: .strong)
    hub.add(AwaitedObserver(2, tracker: tracker), ownership: .strong)
    await hub.invoke { await $0.receive(1) }
    _ = await hub.invokeConcurrently { await $0.receive(1) }
    #expect(tracker.live == 2)
    hub.remove(hub.delegates[0])
    #expect(tracker.live == 1, "no snapshot keeps it")
    hub.removeAll()
    #expect(tracker.live == 0)
  }
}

@Suite("Promise 9 with await: bad input is refused with a message that names it")
struct MulticastActorBadInputLaws {
  @Test("a value type as a weak delegate is a precondition failure that says what to do")
  func valueTypeAsWeakDelegate() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      MulticastActor<any Listening>().add(RecordingValue(1, journal: Journal()))
    }
    let message = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(message.contains("RecordingValue"))
    #expect(message.contains("ownership: .strong"))
  }

  @Test("a value type as a strong delegate is called")
  func valueTypeAsStrongDelegate() async {
    let journal = Journal()
    let hub = MulticastActor<any Listening>()
    let registration = hub.add(RecordingValue(1, journal: journal), ownership: .strong)
    await hub.invoke { $0.receive(1) }
    _ = await hub.invokeConcurrently { $0.receive(1) }
    #expect(journal.take() == [1, 1])
    registration.cancel()
    #expect(hub.isEmpty)
  }

  @Test("a limit below 1 is a precondition failure that names it")
  func limitBelowOne() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = await AwaitingHub().invokeConcurrently(limit: 0) { _ in }
    }
    let message = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(message.contains("a limit of 0"))
  }
}
