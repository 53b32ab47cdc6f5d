public import Synchronization

/// Whether a hub has finished. A hub shares it with its subscriptions, which may outlive it.
@usableFromInline
final class FinishFlag: Sendable {
  @usableFromInline let isRaised = Atomic(false)
}
