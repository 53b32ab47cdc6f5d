import Dispatch
import MulticastTestSupport
import Synchronization
import Testing

@testable import Multicast

@Suite("A serialized hub queues whole invocations in order", .timeLimit(.minutes(10)))
struct MulticastActorSerializedTests {
  @Test("in order, and one at a time", arguments: StorageStrategy.allCases, WayOfCalling.allCases)
  func inOrderAndOneAtATime(storage: StorageStrategy, way: WayOfCalling) async {
    let journal = Journal()
    let hub = AwaitingHub(storage: storage, serialized: true)
    let leave = AsyncGate()
    let delegates = (0..<2).map { id in
      AwaitedObserver(id) { value in
        journal.record(value)
        if value == 0 { await leave.wait() }
        await Task.yield()
        journal.record(value)
      }
    }
    for delegate in delegates { hub.add(delegate) }
    await withTaskGroup { group in
      group.addTask { await way.call(hub, 0) }
      await yieldTask { delegates[0].calls == 1 }
      for value in 1..<20 {
        group.addTask { await way.call(hub, value) }
        // Now it is in the queue.
        await yieldTask { await hub.waitingCount == value }
      }
      leave.open()
    }
    #expect(journal.take() == (0..<20).flatMap { [$0, $0, $0, $0] })
  }

  @Test(
    "an invocation inside a callback runs at once, as a part of it",
    arguments: StorageStrategy.allCases, WayOfCalling.allCases)
  func nested(storage: StorageStrategy, way: WayOfCalling) async {
    let journal = Journal()
    let hub = AwaitingHub(storage: storage, serialized: true)
    let other = AwaitingHub(storage: storage)
    let delegate = AwaitedObserver(0) { [weak hub, weak other] value in
      journal.record(value)
      if value == 1, let hub { await way.call(hub, 2) }
      if value == 2, let other { await way.call(other, 3) }
      journal.record(-value)
    }
    // From inside a child of another hub.
    let indirect = AwaitedObserver(1) { [weak hub] value in
      journal.record(value)
      if let hub { await way.call(hub, 4) }
      journal.record(-value)
    }
    hub.add(delegate)
    other.add(indirect)
    for outer in WayOfCalling.allCases {
      await outer.call(hub, 1)
      #expect(journal.take() == [1, 2, 3, 4, -4, -3, -2, -1])
    }
  }

  @Test("a task that a callback starts waits in the queue", arguments: StorageStrategy.allCases)
  func aTaskThatACallbackStarts(storage: StorageStrategy) async {
    let journal = Journal()
    let hub = AwaitingHub(storage: storage, serialized: true)
    let task = Holder<Task<Void, Never>>(nil)
    let delegate = AwaitedObserver(0) { [weak hub] value in
      guard value == 1, let hub else { return journal.record(value) }
      task.value = Task { await hub.invoke { await $0.receive(2) } }
      await yieldTask { await hub.waitingCount == 1 }
      journal.record(1)
    }
    hub.add(delegate)
    await hub.invoke { await $0.receive(1) }
    await task.value?.value
    #expect(journal.take() == [1, 2])
  }

  @Test("an invocation that throws lets the next one begin", arguments: StorageStrategy.allCases)
  func anInvocationThatThrows(storage: StorageStrategy) async {
    struct Failure: Error {}
    let hub = AwaitingHub(storage: storage, serialized: true)
    let delegate = AwaitedObserver(0)
    hub.add(delegate)
    await #expect(throws: Failure.self) { try await hub.invoke { _ in throw Failure() } }
    await #expect(throws: Failure.self) {
      try await hub.firstResult { _ -> Int? in throw Failure() }
    }
    await hub.invoke { await $0.receive(1) }
    #expect(delegate.calls == 1)
  }

  @Test(
    "callers that prefer a task executor are served too", arguments: [false, true], [false, true])
  func callersWithAPreference(inChildren: Bool, onAQueue: Bool) async {
    let hub =
      onAQueue ? AwaitingHub(serialized: true, on: .global()) : AwaitingHub(serialized: true)
    let other = AwaitingHub(serialized: true)
    let delegate = AwaitedObserver(0)
    hub.add(delegate)
    let outer = AwaitedObserver(1) { [weak hub] _ in await hub?.invoke { await $0.receive(1) } }
    other.add(outer)
    await withTaskGroup { group in
      for caller in 0..<8 {
        group.addTask(executorPreference: globalConcurrentExecutor) {
          for _ in 0..<200 {
            // Through another hub, the caller is in a scope of that one.
            await (caller == 0 && inChildren ? other : hub).invoke { await $0.receive(1) }
          }
        }
      }
    }
    #expect(delegate.calls == 1600)
  }

  @Test("many callers at once are served one at a time", arguments: StorageStrategy.allCases)
  func manyCallers(storage: StorageStrategy) async {
    let hub = AwaitingHub(storage: storage, serialized: true)
    let inside = Atomic(0)
    let delegates = (0..<3).map { id in
      AwaitedObserver(id) { _ in
        #expect(inside.add(1, ordering: .relaxed).newValue == 1)
        await Task.yield()
        inside.subtract(1, ordering: .relaxed)
      }
    }
    for delegate in delegates { hub.add(delegate) }
    await withTaskGroup { group in
      for caller in 0..<8 {
        group.addTask {
          for _ in 0..<50 { await (caller % 2 == 0 ? WayOfCalling.inOrder : .oneAtATime).call(hub) }
        }
      }
    }
    #expect(delegates.map(\.calls) == [400, 400, 400])
  }
}
