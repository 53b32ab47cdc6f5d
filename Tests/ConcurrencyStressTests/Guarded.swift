import Foundation

/// A value behind a lock. Not `Mutex`, of which the thread sanitizer reports false races.
final class Guarded<Value: Sendable>: @unchecked Sendable {
  // Sendable: `value` is accessed under `lock` only.
  private let lock = NSLock()
  private var value: Value

  init(_ value: Value) { self.value = value }

  func withLock<R>(_ body: (inout Value) -> R) -> R { lock.withLock { body(&value) } }
}
