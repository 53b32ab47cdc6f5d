internal import Foundation

/// A reference that one thread can release while others use its object.
///
/// ## Thread safety
/// Every operation may be called from any thread.
public final class Holder<Value: Sendable>: @unchecked Sendable {
  // Sendable: `stored` is accessed under `lock` only.
  private let lock = NSLock()
  private var stored: Value?

  /// Creates a box with a value, or an empty one.
  ///
  /// - Parameter value: the first value.
  public init(_ value: Value?) {
    stored = value
  }

  /// The value now. The one before is released outside of the lock.
  public var value: Value? {
    get { lock.withLock { stored } }
    set {
      let old = lock.withLock {
        let old = stored
        stored = newValue
        return old
      }
      withExtendedLifetime(old) {}  // It dies here, outside the lock.
    }
  }
}
