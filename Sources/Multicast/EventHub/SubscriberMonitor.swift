/// Reports the number of subscribers of a hub as events of two other hubs.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class SubscriberMonitor: @unchecked Sendable {
  // Sendable: `role` and `isStale` are accessed inside `lock` alone, `last` by the holder of the role.

  /// The numbers, until the hub is gone.
  let counts = EventHub<Int>(replay: 1)
  /// The numbers, until the hub finishes.
  let arrivals = EventHub<Int>(replay: 1)
  /// Guards `role` and `isStale`. The hubs send outside.
  private let lock = Lock()
  /// The role of reporting.
  private var role = ExclusiveRole()
  /// Whether the number may have changed since the last report.
  private var isStale = false
  private var last: Int?

  /// Reports the number that `current` returns, if it has changed; one thread at a time reports.
  func update(_ current: () -> Int) {
    let isOurs = lock.withLock {
      isStale = true
      return role.take()
    }
    guard isOurs else { return }
    while takeStale() {
      let count = current()
      guard count != last else { continue }
      last = count
      counts.send(count)
      arrivals.send(count)
    }
  }

  private func takeStale() -> Bool {
    lock.withLock {
      defer { isStale = false }
      return role.keep(if: isStale)
    }
  }
}
