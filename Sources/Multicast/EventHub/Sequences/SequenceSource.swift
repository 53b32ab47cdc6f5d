/// Where the events of a hub come from.
protocol HubSource: AnyObject, Sendable {
  /// Takes nothing more, because the hub finishes. What it has taken is still delivered.
  func close()
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
  /// Guards `task`. No user code runs inside.
  private let lock = Lock()
  /// The latest iteration.
  private var task: Task<Void, Never>?

  /// The hub, which keeps the source and not the reverse.
  private final class Target: @unchecked Sendable {
    // Sendable: `hub` is set before it has a subscriber, and so before another thread reads it; the
    // rest is accessed inside `lock` alone.
    weak var hub: EventHub<Base.Element>?
    /// Guards `hasClosed` and `isSending`. The hub sends outside.
    private let lock = Lock()
    private var hasClosed = false
    private var isSending = false

    /// Whether the hub takes nothing more.
    var isClosed: Bool { lock.withLock { hasClosed } }

    /// - Returns: whether no element is being sent, which may wait for a subscriber.
    func close() -> Bool {
      lock.withLock {
        hasClosed = true
        return !isSending
      }
    }

    /// - Returns: whether the hub takes an element. Then call ``endSending()`` afterwards.
    func beginSending() -> Bool {
      lock.withLock {
        isSending = !hasClosed
        return isSending
      }
    }

    func endSending() { lock.withLock { isSending = false } }
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
    let previous = lock.withLock { self.task }
    // Detached: the iteration belongs to all subscribers, not to the task of the first.
    let task = Task.detached { [base, hub] in
      await previous?.value
      await Self.run(base, hub)
    }
    lock.withLock { self.task = task }
    // Otherwise `close` and `stop` find this task.
    if hub.isClosed { task.cancel() }
  }

  /// Cancels the iteration.
  func pause() {
    lock.withLock { self.task }?.cancel()
  }

  func close() {
    // Otherwise the element is delivered first, at the latest when the subscribers end.
    if hub.close() { pause() }
  }

  func stop() { pause() }

  private static func run(_ base: Base, _ target: Target) async {
    // A subscriber that comes after the end begins no iteration.
    guard !Task.isCancelled, !target.isClosed else { return }
    var failure: (any Error)?
    do {
      for try await element in base {
        guard !Task.isCancelled, let hub = target.hub, target.beginSending() else { return }
        _ = await hub.sendWaiting(element, by: nil)
        target.endSending()
        // The next one would be lost.
        guard !target.isClosed else { return }
      }
    } catch {
      failure = error
    }
    // The end of a cancelled iteration is not the end of the sequence.
    guard !Task.isCancelled else { return }
    target.hub?.finish(failure)
  }
}
