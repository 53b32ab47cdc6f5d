import Multicast
import MulticastTestSupport
import Synchronization
import Testing

@Suite(
  "Promise 3 with await: add, remove, invoke and cancel are legal from inside any callback",
  .timeLimit(.minutes(10)))
struct MulticastActorReentrancyTests {
  /// What a callback does with the hub that awaits it.
  enum Operation: CaseIterable {
    case add, remove, removeAll, prune, read
    case invoke, invokeConcurrently, firstResult, vote
    case cancelItself, cancelItselfAndWait, cancelItselfAndBlock
    case cancelTheNextAndWait

    func run(
      on hub: AwaitingHub, itself: Registration<any Awaited>, next: Registration<any Awaited>,
      spare: any Awaited
    ) async {
      switch self {
      case .add: hub.add(spare)
      case .remove: hub.remove(spare)
      case .removeAll: hub.removeAll()
      case .prune: hub.prune()
      case .read: #expect(hub.count == hub.delegates.count && !hub.contains(spare))
      case .invoke: await hub.invoke { _ in }
      case .invokeConcurrently: _ = await hub.invokeConcurrently { _ in }
      case .firstResult: #expect(await hub.firstResult { $0.id } != nil)
      case .vote: #expect(await hub.allSatisfy { _ in true })
      case .cancelItself: itself.cancel()
      case .cancelItselfAndWait: await itself.cancelAndWait()
      case .cancelItselfAndBlock: #expect(block(itself))
      case .cancelTheNextAndWait: await next.cancelAndWait()
      }
    }

    private func block(_ registration: Registration<any Awaited>) -> Bool {
      registration.cancelAndWait(timeout: .seconds(30))
    }
  }

  @Test(
    "every operation is legal from inside a callback",
    arguments: StorageStrategy.allCases, Operation.allCases)
  func everyOperationIsLegal(storage: StorageStrategy, operation: Operation) async throws {
    for serialized in [false, true] {
      for way in WayOfCalling.allCases {
        let hub = AwaitingHub(storage: storage, serialized: serialized)
        let registrations = Holder<[Registration<any Awaited>]>([])
        let spare = AwaitedObserver(9)
        let acted = Atomic(0)
        let actor = AwaitedObserver(0) { [weak hub] _ in
          guard let hub, let registrations = registrations.value else { return }
          await operation.run(
            on: hub, itself: registrations[0], next: registrations[1], spare: spare)
          await Task.yield()
          await operation.run(
            on: hub, itself: registrations[0], next: registrations[1], spare: spare)
          acted.add(1, ordering: .relaxed)
        }
        let next = AwaitedObserver(1)
        // The others must not be inside while `next` is cancelled: they do nothing.
        registrations.value = [hub.add(actor), hub.add(next)]
        await way.call(hub)
        #expect(acted.load(ordering: .relaxed) == 1)
        if way.isOrdered {
          let isGone = operation == .removeAll || operation == .cancelTheNextAndWait
          #expect(next.calls == (isGone ? 0 : 1))
        }
        registrations.value = nil
      }
    }
  }

  @Test(
    "a deinit that ends a registration may run inside an invocation",
    arguments: StorageStrategy.allCases)
  func deinitThatRemoves(storage: StorageStrategy) async {
    let hub = MulticastActor<any Observing>(storage: storage)
    let journal = Journal()
    let other = RecordingObserver(1, journal: journal)
    let registration = hub.add(other)
    let holder = Holder(
      ActingObserver(
        onDeinit: {
          registration.cancel()
          hub.add(RecordingObserver(2), ownership: .strong)
        }))
    let first = ActingObserver(onReceive: { _, _ in holder.value = nil })
    hub.removeAll()
    hub.add(first)
    hub.add(holder.value!)
    let again = hub.add(other)
    await hub.invoke { $0.receive(1) }
    #expect(journal.take() == [1])
    #expect(again.isActive)
    #expect(hub.count == 3)
  }

  @Test(
    "cancelAndWait does not deadlock inside a callback, through another hub and its children",
    arguments: StorageStrategy.allCases)
  func cancelAndWaitThroughAnotherHub(storage: StorageStrategy) async {
    let outer = AwaitingHub(storage: storage)
    let inner = AwaitingHub(storage: storage)
    let registration = Holder<Registration<any Awaited>>(nil)
    let innermost = AwaitedObserver(2) { _ in await registration.value?.cancelAndWait() }
    let delegate = AwaitedObserver(1) { [weak inner] _ in
      _ = await inner?.invokeConcurrently { await $0.receive(1) }
    }
    inner.add(innermost)
    registration.value = outer.add(delegate)
    await outer.invoke { await $0.receive(1) }
    registration.value = outer.add(delegate)
    _ = await outer.invokeConcurrently { await $0.receive(1) }
    #expect(delegate.calls == 2)
    #expect(innermost.calls == 2)
    #expect(outer.isEmpty)
  }

  @Test(
    "a task that a callback starts and does not wait for gets the whole promise",
    arguments: StorageStrategy.allCases, [WayOfCalling.inOrder, .concurrently])
  func aTaskThatACallbackStarts(storage: StorageStrategy, way: WayOfCalling) async {
    let journal = Journal()
    let hub = AwaitingHub(storage: storage)
    let registration = Holder<Registration<any Awaited>>(nil)
    let task = Holder<Task<Void, Never>>(nil)
    let delegate = AwaitedObserver(1) { _ in
      let mine = registration.value!
      task.value = Task {
        await mine.cancelAndWait()
        journal.record(2)
      }
      await yieldTask { !mine.isActive }
      for _ in 0..<100 { await Task.yield() }
      journal.record(1)
    }
    registration.value = hub.add(delegate)
    await way.call(hub)
    await task.value?.value
    #expect(journal.take() == [1, 2])
  }
}
