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

  @Test("a queue that is given runs the delegates, one at a time", arguments: [false, true])
  func onAQueue(isConcurrent: Bool) async {
    let hub = AwaitingHub(on: Self.makeQueue(isConcurrent ? .concurrent : []))
    await check(hub, expected: "given")
  }

  @Test("an executor that is given runs the delegates")
  func onAnExecutor() async {
    let executor = QueueExecutor(on: Self.makeQueue([]))
    await check(AwaitingHub(executor: executor), expected: "given")
  }

  @Test("the default is the global pool")
  func onThePool() async {
    await check(AwaitingHub(), expected: nil)
  }

  @Test("a hub on the global pool follows the task executor that its caller prefers")
  func taskExecutor() async {
    let hub = AwaitingHub()
    let seen = Journal()
    let delegate = AwaitedObserver(0) { _ in
      seen.record(Self.queue == "given" ? 1 : 0)
    }
    hub.add(delegate)
    let executor = PreferredQueue(Self.makeQueue(.concurrent))
    await Task(executorPreference: executor) {
      await hub.invoke { await $0.receive(1) }
      _ = await hub.invokeConcurrently { await $0.receive(1) }
    }.value
    #expect(seen.take() == [1, 1])
  }

  private func check(_ hub: AwaitingHub, expected: String?) async {
    let inside = Atomic(0)
    let seen = Journal()
    // Nothing in this body suspends, so nobody else is on the executor meanwhile.
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
