import Foundation

/// A clock that stands still until a test advances it.
final class ManualClock: Clock, @unchecked Sendable {
  // Sendable: everything that changes is accessed under `lock` only.

  struct Instant: InstantProtocol {
    var offset: Duration = .zero

    func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    func duration(to other: Instant) -> Duration { other.offset - offset }
    static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  private struct Sleeper {
    let id: Int
    let end: Instant
    let continuation: CheckedContinuation<Void, any Error>
  }

  private let lock = NSLock()
  private var time = Instant()
  private var sleepers: [Sleeper] = []
  private var cancelled: Set<Int> = []
  private var watchers: [CheckedContinuation<Void, Never>] = []
  private var started = 0

  var now: Instant { lock.withLock { time } }
  var minimumResolution: Duration { .nanoseconds(1) }

  /// The number of sleeping tasks.
  var sleeperCount: Int { lock.withLock { sleepers.count } }

  func sleep(until end: Instant, tolerance: Duration?) async throws {
    let id = lock.withLock {
      started += 1
      return started
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        enum Step {
          case cancelled
          case over
          case sleeping([CheckedContinuation<Void, Never>])
        }
        let step = lock.withLock { () -> Step in
          if cancelled.remove(id) != nil { return .cancelled }
          if end <= time { return .over }
          sleepers.append(Sleeper(id: id, end: end, continuation: continuation))
          defer { watchers = [] }
          return .sleeping(watchers)
        }
        switch step {
        case .cancelled: continuation.resume(throwing: CancellationError())
        case .over: continuation.resume()
        case .sleeping(let watchers): for watcher in watchers { watcher.resume() }
        }
      }
    } onCancel: {
      let sleeper = lock.withLock { () -> Sleeper? in
        guard let index = sleepers.firstIndex(where: { $0.id == id }) else {
          cancelled.insert(id)
          return nil
        }
        return sleepers.remove(at: index)
      }
      sleeper?.continuation.resume(throwing: CancellationError())
    }
  }

  /// Returns when a task is sleeping.
  func untilATaskSleeps() async {
    await withCheckedContinuation { continuation in
      let isSleeping = lock.withLock {
        if sleepers.isEmpty { watchers.append(continuation) }
        return !sleepers.isEmpty
      }
      if isSleeping { continuation.resume() }
    }
  }

  /// Advances the time, and wakes the tasks whose deadlines have passed.
  func advance(by duration: Duration) {
    let due = lock.withLock {
      time = time.advanced(by: duration)
      let due = sleepers.filter { $0.end <= time }
      sleepers.removeAll { $0.end <= time }
      return due
    }
    for sleeper in due { sleeper.continuation.resume() }
  }
}
