/// Where the events of a hub come from.
protocol HubSource: AnyObject, Sendable {
  /// Ends the source for good, because the hub has finished.
  func stop()
}

/// Sends the elements of an asynchronous sequence to a hub while that has subscribers.
///
///     hub ──▶ source ──▶ task ──▶ sequence
///      ▲╌╌╌╌weak╌╌╌╌╌╌╌╌╌┘
///
/// ## Thread safety
/// Every operation may be called from any thread. The hooks of the hub call ``start()`` and
/// ``pause()`` alternately.
final class SequenceSource<Base: AsyncSequence & Sendable>: HubSource, @unchecked Sendable
where Base.Element: Sendable {
  // Sendable: everything that changes is accessed inside `lock` alone.

  private let base: Base
  private let hub = Target()
  /// Guards `task` and `isStopped`. No user code runs inside.
  private let lock = Lock()
  /// The latest iteration.
  private var task: Task<Void, Never>?
  private var isStopped = false

  /// The hub, which keeps the source and not the reverse.
  private final class Target: @unchecked Sendable {
    // Sendable: set before the hub has a subscriber, and so before another thread reads it.
    weak var hub: EventHub<Base.Element>?
  }

  init(_ base: Base) {
    self.base = base
  }

  /// Sets the hub, before anything subscribes to it.
  func connect(_ hub: EventHub<Base.Element>) {
    self.hub.hub = hub
  }

  /// Begins an iteration, after the previous one has ended.
  func start() {
    // A subscriber that comes after the end begins no iteration.
    let (previous, hasStopped) = lock.withLock { (self.task, self.isStopped) }
    guard !hasStopped else { return }
    // Detached: the iteration belongs to all subscribers, not to the task of the first.
    let task = Task.detached { [base, hub] in
      await previous?.value
      await Self.run(base, hub)
    }
    let isStopped = lock.withLock {
      self.task = task
      return self.isStopped
    }
    if isStopped { task.cancel() }
  }

  /// Cancels the iteration.
  func pause() {
    lock.withLock { self.task }?.cancel()
  }

  func stop() {
    let task = lock.withLock {
      isStopped = true
      return self.task
    }
    task?.cancel()
  }

  private static func run(_ base: Base, _ target: Target) async {
    guard !Task.isCancelled else { return }
    var failure: (any Error)?
    do {
      for try await element in base {
        guard !Task.isCancelled, let hub = target.hub else { return }
        _ = await hub.sendWaiting(element, by: nil)
      }
    } catch {
      failure = error
    }
    // The end of a cancelled iteration is not the end of the sequence.
    guard !Task.isCancelled else { return }
    target.hub?.finish(failure)
  }
}
