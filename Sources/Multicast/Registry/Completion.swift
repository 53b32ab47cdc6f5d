internal import Synchronization

/// How a hub has finished: the first `finish` decides.
///
/// `outcome` is set once. Its store precedes what a subclass or an owner publishes, and each thread
/// that finds it set publishes too. So a `finish` that is not the first returns, and a thread reads
/// the error, when the end is published. A sequence reads it after its subscription has ended,
/// which follows.
///
/// ## Thread safety
/// Every operation may be called from any thread.
@usableFromInline
class Completion: @unchecked Sendable {
  // Sendable: `outcome` is atomic; a subclass says why its own state may be shared.

  private final class Outcome: Sendable {
    let error: (any Error)?

    init(_ error: (any Error)?) {
      self.error = error
    }

    /// An end without an error.
    static let plain = Outcome(nil)
  }

  private let outcome = Atomic<Unmanaged<Outcome>?>(nil)

  init() {}

  deinit {
    // Relaxed: no other thread has a reference.
    outcome.load(ordering: .relaxed)?.release()
  }

  /// Makes the end visible. Called by each thread that finds that there is one: it must not matter
  /// how often. It runs no user code.
  func publish() {}

  /// Whether the hub has finished.
  final var isComplete: Bool {
    outcome.load(ordering: .acquiring) != nil  // Acquiring: what the thread did that completed it.
  }

  /// The error with which the hub has finished, if any.
  final var failure: (any Error)? {
    // Acquiring: the outcome with its contents.
    guard let outcome = outcome.load(ordering: .acquiring) else { return nil }
    publish()
    // SAFETY: the outcome is released by `deinit` alone.
    return outcome._withUnsafeGuaranteedRef { $0.error }
  }

  /// Completes, unless that has happened before.
  ///
  /// - Returns: whether this call has completed.
  final func complete(_ failure: (any Error)?) -> Bool {
    let new = Unmanaged.passRetained(failure.map { Outcome($0) } ?? Outcome.plain)
    // Releases the outcome with its contents; acquires nothing that is read here.
    let isFirst = outcome.compareExchange(
      expected: nil, desired: new, ordering: .releasing
    ).exchanged
    if !isFirst { new.release() }
    publish()
    return isFirst
  }
}
