/// Tells when the first subscriber comes and the last one goes.
///
/// ## Thread safety
/// ``change(by:)`` may be called from any thread.
final class Presence: @unchecked Sendable {
  // Sendable: everything that changes is touched inside `lock` alone.
  private let first: (@Sendable () -> Void)?
  private let last: (@Sendable () -> Void)?
  private let lock = Lock()
  private var count = 0
  /// Whether the last hook that ran was `first`.
  private var isPresent = false
  /// Whether a thread is running hooks: it will notice what changes meanwhile.
  private var isTelling = false

  init(first: (@Sendable () -> Void)?, last: (@Sendable () -> Void)?) {
    self.first = first
    self.last = last
  }

  /// So many subscribers have come, or gone if negative.
  func change(by difference: Int) {
    let isOurs = lock.withLock {
      count += difference
      guard !isTelling else { return false }
      isTelling = true
      return true
    }
    guard isOurs else { return }
    while let hook = nextHook() { hook() }
  }

  private func nextHook() -> (@Sendable () -> Void)? {
    lock.withLock {
      guard isPresent != (count > 0) else {
        isTelling = false
        return nil
      }
      isPresent = count > 0
      return (isPresent ? first : last) ?? {}
    }
  }
}
