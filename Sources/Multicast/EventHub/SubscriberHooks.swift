/// Runs one hook when the number of subscribers rises from zero, and another when it falls to zero,
/// alternately and never concurrently.
///
/// ## Thread safety
/// ``change(by:)`` may be called from any thread.
final class SubscriberHooks: @unchecked Sendable {
  // Sendable: everything that changes is accessed inside `lock` alone.
  private let first: (@Sendable () -> Void)?
  private let last: (@Sendable () -> Void)?
  /// Guards the count and the role. The hooks run outside.
  private let lock = Lock()
  private var count = 0
  /// Whether the latest hook was `first`.
  private var isStarted = false
  /// The role of running hooks.
  private var role = ExclusiveRole()

  init(first: (@Sendable () -> Void)?, last: (@Sendable () -> Void)?) {
    self.first = first
    self.last = last
  }

  /// A closure that counts subscribers, if there is a hook.
  static func onChange(
    _ first: (@Sendable () -> Void)?, _ last: (@Sendable () -> Void)?
  ) -> (@Sendable (Int) -> Void)? {
    guard first != nil || last != nil else { return nil }
    let hooks = SubscriberHooks(first: first, last: last)
    return { hooks.change(by: $0) }
  }

  /// Counts subscribers that were added, or removed if negative.
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
      guard role.keep(if: isStarted != (count > 0)) else { return nil }
      isStarted = count > 0
      return (isStarted ? first : last) ?? {}
    }
  }
}
