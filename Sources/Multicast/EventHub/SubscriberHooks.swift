/// Runs one hook when the number of subscribers rises from zero, another when it falls to zero,
/// alternately, and a third for each subscriber that comes or goes; never concurrently.
///
/// ## Thread safety
/// ``change(by:)`` and ``expect(by:)`` may be called from any thread.
final class SubscriberHooks: @unchecked Sendable {
  // Sendable: everything that changes is accessed inside `lock` alone.
  private let first: (@Sendable () -> Void)?
  private let last: (@Sendable () -> Void)?
  private let each: (@Sendable (SubscriberChange) -> Void)?
  /// Guards the counts and the role. The hooks run outside.
  private let lock = Lock()
  private var count = 0
  /// Never less than the number of subscribers: it counts those that are being added.
  private var expected = 0
  /// Whether the latest of the two hooks was `first`.
  private var isStarted = false
  /// Changes that were not reported to `each`, in order. Empty without that hook.
  private var unreported = RingBuffer<Int>()
  /// The number of subscribers after the latest report.
  private var reported = 0
  /// The number of removals that were counted before the additions, which are still to come.
  private var early = 0
  /// The role of running hooks.
  private var role = ExclusiveRole()

  /// `nil` without a hook.
  init?(
    first: (@Sendable () -> Void)?, last: (@Sendable () -> Void)?,
    each: (@Sendable (SubscriberChange) -> Void)? = nil
  ) {
    guard first != nil || last != nil || each != nil else { return nil }
    self.first = first
    self.last = last
    self.each = each
  }

  /// Counts subscribers that were added, or removed if negative.
  func change(by difference: Int) {
    let isOurs = lock.withLock {
      count += difference
      if difference < 0 { expected += difference }
      if each != nil {
        for _ in 0..<abs(difference) { unreported.append(difference.signum()) }
      }
      return role.take()
    }
    if isOurs { runHooks() }
  }

  /// Counts subscribers that are about to be added, or that were not if negative: see
  /// ``RegistryExtras/entriesExpected(by:)``.
  ///
  /// A subscriber may be removed before its addition is counted. Then ``change(by:)`` counts one
  /// too few for a moment, which is not the end of the last one.
  func expect(by difference: Int) {
    let isOurs = lock.withLock {
      expected += difference
      return difference < 0 && role.take()
    }
    if isOurs { runHooks() }
  }

  private func runHooks() {
    while let hook = nextHook() { hook() }
  }

  private func nextHook() -> (() -> Void)? {
    lock.withLock {
      if let each, let change = nextChange() { return { each(change) } }
      guard role.keep(if: isStarted ? expected == 0 : count > 0) else { return nil }
      isStarted.toggle()
      return (isStarted ? first : last) ?? {}
    }
  }

  /// The next change to report. Inside the lock.
  private func nextChange() -> SubscriberChange? {
    while true {
      // No report that the last one has left, while another one is being added.
      if early > 0 && reported > (expected == 0 ? 0 : 1) {
        early -= 1
        reported -= 1
        return .removed(count: reported)
      }
      guard let difference = unreported.popFirst() else { return nil }
      if difference < 0 {
        early += 1
      } else {
        reported += 1
        return .added(count: reported)
      }
    }
  }
}
