/// Why a subscription has ended.
///
/// ## Thread safety
/// A value: any thread may use its copy.
public enum SubscriptionEnd: Sendable, Hashable, CaseIterable {
  /// The subscription or its task was cancelled, its handle, sequence or owner is gone, or its
  /// handler has been called as often as ``SubscriberOption/first(_:)`` says.
  case cancelled
  /// The hub has finished, or is gone.
  case finished
  /// The buffer was full, and its policy is to disconnect.
  case disconnected
}
