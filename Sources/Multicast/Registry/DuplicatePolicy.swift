/// What `add` does with a delegate that is already registered.
public enum DuplicatePolicy: Sendable, Hashable, CaseIterable {
  /// Keep the registration that exists, and return a handle of it. The default.
  case ignored
  /// Add another registration: the delegate is called once for each.
  case allowed
  /// Cancel the registration that exists, and add one at the end. No invocation calls both. One
  /// that is under way calls the old one if it gets there before; otherwise it calls neither, as if
  /// the delegate had been removed and added again.
  case replaced
}
