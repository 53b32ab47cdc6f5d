/// A subscriber that has come or gone.
///
/// ## Thread safety
/// A value: any thread may use its copy.
public enum SubscriberChange: Sendable, Hashable {
  /// A subscription has begun. With it there are `count`.
  case added(count: Int)
  /// A subscription has ended, for whatever reason. Without it there are `count`.
  case removed(count: Int)
}
