public import Synchronization

/// Whether a hub has finished, and how. A hub shares it with its subscriptions and sequences, which
/// may outlive it.
@usableFromInline
final class FinishFlag: Completion, @unchecked Sendable {
  // Sendable: everything that it adds is atomic.

  @usableFromInline let isRaised = Atomic(false)

  /// What a sender checks: 0 if the hub accepts events. The lowest bit: it has finished; the others
  /// are the number of its blocks.
  @usableFromInline let gate = Atomic<Int>(0)

  /// Whether the hub accepts events.
  @inlinable @inline(__always)
  var isOpen: Bool {
    // Acquiring: a sender that finds the gate closed by `finish` then finds the flag raised.
    gate.load(ordering: .acquiring) == 0
  }

  /// Whether senders skip all subscribers.
  var isBlocked: Bool { gate.load(ordering: .acquiring) > 1 }  // Acquiring: as above.

  /// How the hub has finished: the same object.
  var completion: Completion { self }

  /// Raises the flag.
  ///
  /// - Returns: whether it was not raised before. Only then does `failure` count.
  func raise(_ failure: (any Error)?) -> Bool { complete(failure) }

  override func publish() {
    // Sequentially consistent: see `EventHub.finish`.
    isRaised.store(true, ordering: .sequentiallyConsistent)
    // Releasing: a sender that finds the gate closed for good finds the flag raised.
    gate.bitwiseOr(1, ordering: .releasing)
  }

  func block() {
    // Pairs with the load of `isOpen`. Releasing would be enough; only a block pays for more.
    gate.wrappingAdd(2, ordering: .acquiringAndReleasing)
  }

  func unblock() {
    let old = gate.wrappingSubtract(2, ordering: .acquiringAndReleasing).oldValue  // Likewise.
    Entry.requireBlock(old >> 1)
  }
}
