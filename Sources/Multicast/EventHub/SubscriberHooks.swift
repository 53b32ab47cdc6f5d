/// Runs hooks when the first subscriber has come and when the last one has gone, in turns and never
/// at once.
///
/// ## Thread safety
/// ``change(by:)`` may be called from any thread.
final class SubscriberHooks: @unchecked Sendable {
  // Sendable: everything that changes is touched inside `lock` alone.
  private let first: (@Sendable () -> Void)?
  private let last: (@Sendable () -> Void)?
  private let lock = Lock()
  private var count = 0
  /// Whether the last hook that ran was `first`.
  private var isPresent = false
  /// Running hooks.
  private var role = ExclusiveRole()

  init(first: (@Sendable () -> Void)?, last: (@Sendable () -> Void)?) {
    self.first = first
    self.last = last
  }

  /// Counts subscribers that have come, or gone if negative.
  func change(by difference: Int) {
    let isOurs = lock.withLock {
      count += difference
      return role.take()
    }
    guard isOurs else { return }
    while let hook = nextHook() { hook() }
  }

  private func nextHook() -> (@Sendable () -> Void)? {
    lock.withLock {
      guard role.keep(if: isPresent != (count > 0)) else { return nil }
      isPresent = count > 0
      return (isPresent ? first : last) ?? {}
    }
  }
}
