import Synchronization

/// A clock whose time a test moves on: each sleep ends with a call of ``step()``.
final class StepClock: Clock, Sendable {
  struct Instant: InstantProtocol {
    var offset: Duration
    func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    func duration(to other: Instant) -> Duration { other.offset - offset }
    static func < (first: Instant, second: Instant) -> Bool { first.offset < second.offset }
  }

  private let sleeps: AsyncStream<Duration>
  private let beginSleep: AsyncStream<Duration>.Continuation
  private let steps: AsyncStream<Void>
  private let endSleep: AsyncStream<Void>.Continuation

  init() {
    (sleeps, beginSleep) = AsyncStream.makeStream()
    (steps, endSleep) = AsyncStream.makeStream()
  }

  var now: Instant { Instant(offset: .zero) }
  var minimumResolution: Duration { .zero }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    beginSleep.yield(deadline.offset)
    var iterator = steps.makeAsyncIterator()
    _ = await iterator.next()
    try Task.checkCancellation()
  }

  /// Waits until a task sleeps.
  ///
  /// - Returns: for how long it wants to.
  func nextSleep() async -> Duration? {
    var iterator = sleeps.makeAsyncIterator()
    return await iterator.next()
  }

  func step() { endSleep.yield() }
}
