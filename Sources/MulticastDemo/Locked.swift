import Foundation

/// A value that one thread at a time can access.
///
/// `Mutex` of the Synchronization module has the same interface. On Linux it gets many times slower
/// when more threads than there are cores want it all the time, as here; a lock of pthreads, which
/// this is, does not.
final class Locked<Value: Sendable & ~Copyable>: @unchecked Sendable {
  // Sendable: `value` is touched inside `lock` alone.
  private let lock = NSLock()
  private var value: Value

  init(_ value: consuming Value) {
    self.value = value
  }

  /// Calls `body` with the value, while no other thread has it.
  func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }
}
