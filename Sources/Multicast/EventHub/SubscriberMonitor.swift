/// Reports the number of subscribers of a hub as events of other hubs.
///
/// A report may be late: a thread that changes the number leaves the report to one that is
/// reporting. So those that wait for a number look at it themselves, at each report.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class SubscriberMonitor: @unchecked Sendable {
  // Sendable: `role` and `isStale` are accessed inside `lock` alone, `last` by the holder of the role.

  /// The numbers, until the hub is gone.
  let counts = EventHub<Int>(replay: 1)
  /// The reports for those that wait for subscribers, until the hub finishes.
  let arrivals = EventHub<Int>(replay: 1)
  /// The reports for those that wait until no subscriber is left, until the hub is gone.
  let departures = EventHub<Int>(replay: 1)
  /// Guards `role` and `isStale`. The hubs send outside.
  private let lock = Lock()
  /// The role of reporting.
  private var role = ExclusiveRole()
  /// Whether the number may have changed since the last report.
  private var isStale = false
  private var last: Int?

  /// Reports the number of subscribers of `hub`; one thread at a time reports.
  func update(_ hub: HubState) {
    let isOurs = lock.withLock {
      isStale = true
      return role.take()
    }
    guard isOurs else { return }
    while takeStale() {
      let count = hub.total
      // No 0 while one is being added: another one may be left.
      if count != last && (count > 0 || last == nil || hub.isEmpty) {
        last = count
        counts.send(count)
      }
      // Also the same number again: who waits may have looked when it was another one.
      arrivals.send(count)
      departures.send(count)
    }
  }

  /// No number follows, because the hub is gone.
  func finish() {
    counts.finish()
    departures.finish()
  }

  private func takeStale() -> Bool {
    lock.withLock {
      defer { isStale = false }
      return role.keep(if: isStale)
    }
  }
}
