/// Reports the number of subscribers of a hub as events of other hubs.
///
/// A report may be late: a thread that changes the number leaves the report to one that is
/// reporting. So each waiter reads the number itself, at each report.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class SubscriberMonitor: @unchecked Sendable {
  // Sendable: what `lock` guards is accessed inside it alone, `last` by the holder of the role.

  /// The numbers, until the hub is gone.
  let counts = EventHub<Int>(replay: 1)
  /// The reports for those that wait for subscribers, until the hub finishes.
  let arrivals = EventHub<Int>(replay: 1)
  /// The reports for those that wait until no subscriber is left, until the hub is gone.
  let departures = EventHub<Int>(replay: 1)
  /// Guards `role`, `isStale` and `isEnding`. The hubs send outside.
  private let lock = Lock()
  /// The role of reporting.
  private var role = ExclusiveRole()
  /// Whether the number may have changed since the last report.
  private var isStale = false
  /// Whether the hub is gone.
  private var isEnding = false
  private var last: Int?

  /// Reports the number of subscribers of `hub`; one thread at a time reports.
  func update(_ hub: HubState) { report(hub, isEnding: false) }

  /// Reports the last number of subscribers of `hub`, which is gone.
  func finish(_ hub: HubState) { report(hub, isEnding: true) }

  private func report(_ hub: HubState, isEnding: Bool) {
    let isOurs = lock.withLock {
      isStale = true
      if isEnding { self.isEnding = true }
      return role.take()
    }
    guard isOurs else { return }
    while let isLast = takeStale() {
      let count = hub.total
      // No 0 while one is being added: another one may be left.
      if count != last && (count > 0 || last == nil || hub.isEmpty) {
        last = count
        counts.send(count)
      }
      // Also the same number again: a waiter may have read another one in the meantime.
      arrivals.send(count)
      departures.send(count)
      // Not by the thread that releases the hub, while another one has yet to report.
      if isLast {
        counts.finish()
        departures.finish()
      }
    }
  }

  /// - Returns: whether the number to report is the last one; `nil` if there is none.
  private func takeStale() -> Bool? {
    lock.withLock {
      defer { isStale = false }
      return role.keep(if: isStale) ? isEnding : nil
    }
  }
}
