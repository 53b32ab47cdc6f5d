internal import Foundation

/// A value that several threads change, behind a lock.
///
/// Not `Synchronization.Mutex`, of which the thread sanitizer reports false races on Linux.
///
/// ## Thread safety
/// Every operation may be called from any thread.
public final class Guarded<Value: Sendable>: @unchecked Sendable {
  // Sendable: `value` is accessed inside `lock` alone.
  private let lock = NSLock()
  private var value: Value

  /// A guarded value.
  ///
  /// - Parameter value: the value at first.
  public init(_ value: Value) { self.value = value }

  /// Runs `body` with the value, which no other thread accesses meanwhile.
  ///
  /// - Parameter body: must not use this value in another way: the lock is not recursive.
  /// - Returns: what `body` returns.
  public func withLock<R>(_ body: (inout Value) -> R) -> R { lock.withLock { body(&value) } }
}
