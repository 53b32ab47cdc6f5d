/// Why a subscription has ended.
public enum SubscriptionEnd: Sendable, Hashable, CaseIterable {
  /// It was cancelled, its task was cancelled, or its handle, its sequence or its owner is gone.
  case cancelled
  /// The hub has finished, or is gone.
  case finished
  /// It was too slow: its buffer was full, and its policy is to disconnect.
  case disconnected
}
