import ConcurrencyStress
import Synchronization

/// The toolchain's AsyncStream and Mutex.
enum ToolchainFindings {
  static let scenarios = [
    counter.scenario("mutex", promise: "Mutex makes a counter linearizable"),
    yields.scenario(
      "stream-yield",
      promise: "AsyncStream's yield returns the free space of its buffer, in one order"),
    sharing.scenario(
      "stream-two-consumers",
      promise: "AsyncStream gives each element to exactly one of two consumers"),
    cancelling.scenario(
      "stream-cancellation",
      promise: "an AsyncStream of which a consumer was cancelled goes on for another consumer"),
  ]

  private final class Count: Sendable {
    private let number = Mutex(0)
    func increment() -> Int {
      number.withLock {
        $0 += 1; return $0
      }
    }
    func reset() { number.withLock { $0 = 0 } }
  }

  private static let counter = LinearizabilityTest({ Count() }, model: 0, threads: 3)
    .operation(
      "increment", { $0.increment() },
      model: {
        $0 += 1; return $0
      }
    )
    .operation("reset", { $0.reset() }, model: { $0 = 0 })

  private final class Stream: Sendable {
    let stream: AsyncStream<Int>
    let continuation: AsyncStream<Int>.Continuation

    init(limit: Int) {
      (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(limit))
    }
  }

  /// The model: the number of elements that wait.
  private static let yields = LinearizabilityTest({ Stream(limit: 3) }, model: 0)
    .operation(
      "yield", 1...9, { "\($0.continuation.yield($1))" },
      model: { waiting, element in
        guard waiting < 3 else { return "dropped(\(element))" }
        waiting += 1
        return "enqueued(remaining: \(3 - waiting))"
      })

  private static let sharing = ScheduleTest { schedule in
    let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
    let received = Record()
    await withTaskGroup { group in
      for consumer in 0..<2 {
        group.addTask {
          for await element in stream {
            schedule.note("consumer \(consumer) gets \(element)")
            received.append(element)
          }
        }
      }
      group.addTask {
        for element in 1...4 {
          continuation.yield(element)
          await Task.yield()
        }
        continuation.finish()
      }
    }
    let all = received.entries.sorted()
    schedule.expect(all == [1, 2, 3, 4], "\(all) came")
  }

  private static let cancelling = ScheduleTest { schedule in
    let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
    let received = Record()
    let first = Task {
      for await element in stream { received.append(element) }
    }
    let second = Task {
      for await element in stream { received.append(element) }
    }
    first.cancel()
    await first.value
    for element in 1...3 { continuation.yield(element) }
    continuation.finish()
    await second.value
    let all = received.entries.sorted()
    schedule.expect(all == [1, 2, 3], "\(all) came of 1, 2 and 3")
  }
}
