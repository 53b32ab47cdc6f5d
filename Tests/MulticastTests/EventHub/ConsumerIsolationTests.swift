import Dispatch
import MulticastTestSupport
import Synchronization
import Testing

@testable import Multicast

/// A task executor that counts its jobs.
private final class CountingExecutor: TaskExecutor {
  private let queue = DispatchQueue(label: "counting executor")
  private let jobs = Atomic(0)

  var count: Int { jobs.load(ordering: .relaxed) }

  func enqueue(_ job: consuming ExecutorJob) {
    jobs.add(1, ordering: .relaxed)
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

/// An actor with an executor of its own, which consumes events.
private actor Reader {
  private let executor = StationExecutor()
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
  private(set) var received = 0

  func readAll(_ sequence: EventSequence<Int>) async {
    for await _ in sequence { received += 1 }
  }

  func readAll(_ sequence: PositionedSequence<Int>) async {
    for await _ in sequence { received += 1 }
  }
}

@Suite("A task of an actor does not leave the actor to wait for an event")
struct ConsumerIsolationTests {
  /// The task begins and ends elsewhere, and so does each continuation that is resumed: at most one
  /// for each event and one for the end. A first request may yield, which takes three jobs. A task
  /// that left the actor to wait would have one more for each event.
  private static let most = 2 + 21 + 3

  /// Sends 20 events, each after the one before was received.
  ///
  /// - Returns: the number of jobs that ran elsewhere than on the actor.
  private func jobsElsewhere(
    _ hub: EventHub<Int>, _ read: @escaping @Sendable (Reader) async -> Void
  ) async -> Int {
    let executor = CountingExecutor()
    let reader = Reader()
    let task = Task(executorPreference: executor) { await read(reader) }
    for event in 1...20 {
      hub.send(event)
      while await reader.received < event { await Task.yield() }
    }
    hub.finish()
    await task.value
    return executor.count
  }

  @Test("events")
  func events() async {
    let hub = EventHub<Int>()
    let events = hub.events()
    #expect(await jobsElsewhere(hub) { await $0.readAll(events) } <= Self.most)
  }

  @Test("events with positions")
  func positions() async {
    let hub = EventHub<Int>(retention: .last(100))
    let events = hub.events(from: .live)
    #expect(await jobsElsewhere(hub) { await $0.readAll(events) } <= Self.most)
  }
}
