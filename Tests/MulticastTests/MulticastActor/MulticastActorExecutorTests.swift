import Dispatch
import MulticastTestSupport
import Synchronization
import Testing

@testable import Multicast

@Suite("The executor of a hub", .timeLimit(.minutes(10)))
struct MulticastActorExecutorTests {
  private static let key = DispatchSpecificKey<String>()

  /// The name of the queue this runs on.
  private static var queue: String? { DispatchQueue.getSpecific(key: key) }

  private static func makeQueue(_ attributes: DispatchQueue.Attributes) -> DispatchQueue {
    let queue = DispatchQueue(label: "executor test", attributes: attributes)
    queue.setSpecific(key: key, value: "given")
    return queue
  }

  @Test(
    "a queue that is given runs the delegates, one at a time", arguments: [false, true],
    [false, true])
  func onAQueue(isConcurrent: Bool, serialized: Bool) async {
    let queue = Self.makeQueue(isConcurrent ? .concurrent : [])
    await check(AwaitingHub(serialized: serialized, on: queue), expected: "given")
  }

  @Test("an executor that is given runs the delegates", arguments: [false, true])
  func onAnExecutor(serialized: Bool) async {
    let executor = QueueExecutor(on: Self.makeQueue([]))
    await check(AwaitingHub(serialized: serialized, executor: executor), expected: "given")
  }

  @Test("the default is the global pool", arguments: [false, true])
  func onThePool(serialized: Bool) async {
    await check(AwaitingHub(serialized: serialized), expected: nil)
  }

  @Test(
    "a hub on the global pool follows the task executor that its caller prefers",
    arguments: [false, true])
  func taskExecutor(serialized: Bool) async {
    let hub = AwaitingHub(serialized: serialized)
    let seen = Journal()
    let delegate = AwaitedObserver(0) { [weak hub] value in
      seen.record(Self.queue == "given" ? 1 : 0)
      await Task.yield()
      seen.record(Self.queue == "given" ? 1 : 0)
      await StructuredChild.asyncLet.run { [hub] in
        seen.record(Self.queue == "given" ? 1 : 0)
        if value == 1 { await hub?.invoke { await $0.receive(2) } }
      }
      seen.record(Self.queue == "given" ? 1 : 0)
    }
    hub.add(delegate)
    let executor = PreferredQueue(Self.makeQueue(.concurrent))
    await Task(executorPreference: executor) {
      await hub.invoke { await $0.receive(1) }
      _ = await hub.invokeConcurrently { await $0.receive(1) }
    }.value
    #expect(seen.take() == Array(repeating: 1, count: 16))
  }

  @Test("a callback of a serialized hub may prefer an executor of its own and invoke the hub")
  func aPreferenceOfTheCallback() async {
    let hub = AwaitingHub(serialized: true)
    let executor = PreferredQueue(Self.makeQueue(.concurrent))
    let delegate = AwaitedObserver(0) { [weak hub] value in
      guard value == 1, let hub else { return }
      await withTaskExecutorPreference(executor) { await hub.invoke { await $0.receive(2) } }
    }
    hub.add(delegate)
    await hub.invoke { await $0.receive(1) }
    _ = await hub.invokeConcurrently { await $0.receive(1) }
    #expect(delegate.calls == 4)
  }

  private func check(_ hub: AwaitingHub, expected: String?) async {
    let inside = Atomic(0)
    let seen = Journal()
    // Nothing in this body suspends, so no other task runs on the executor in the meantime.
    let call: @Sendable () -> Void = {
      #expect(inside.add(1, ordering: .relaxed).newValue == 1)
      seen.record(Self.queue == expected ? 1 : 0)
      inside.subtract(1, ordering: .relaxed)
    }
    let delegates = (0..<3).map { AwaitedObserver($0) }
    for delegate in delegates { hub.add(delegate) }
    await withTaskGroup { group in
      for _ in 0..<4 {
        group.addTask {
          for _ in 0..<50 {
            await hub.invoke { _ in
              hub.preconditionIsolated()
              call()
            }
          }
        }
      }
    }
    #expect(seen.take() == Array(repeating: 1, count: 600))
    // After a suspension too.
    await hub.invoke { _ in
      await Task.yield()
      hub.preconditionIsolated()
      call()
    }
    #expect(seen.take() == [1, 1, 1])
  }
}

/// A task executor on a queue.
private final class PreferredQueue: TaskExecutor {
  private let queue: DispatchQueue

  init(_ queue: DispatchQueue) {
    self.queue = queue
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
