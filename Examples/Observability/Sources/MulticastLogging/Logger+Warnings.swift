public import Logging
public import Multicast

extension Logger {
  /// Logs a warning of many registrations of one line, with the metadata `hub`, `site` and `count`.
  ///
  /// For a handler that does more than log: `hub.warnOfLeaks { logger.log($0); alarm() }`.
  ///
  /// - Parameter warning: what to log.
  public func log(_ warning: LeakWarning) {
    self.warning(
      "more registrations of one line than expected, perhaps a leak",
      metadata: [
        "hub": .string(warning.hub ?? "-"), "site": "\(warning.site)", "count": "\(warning.count)",
      ])
  }

  /// Logs a warning of a call of a handler or a delegate that took long, with the metadata `hub`,
  /// `site`, `label` and `seconds`.
  ///
  /// - Parameter warning: what to log.
  public func log(_ warning: SlowHandlerWarning) {
    let (seconds, attoseconds) = warning.duration.components
    self.warning(
      "a call of a handler or a delegate took long",
      metadata: [
        "hub": .string(warning.hub ?? "-"), "site": .string(warning.site?.description ?? "-"),
        "label": .string(warning.label ?? "-"),
        "seconds": "\(Double(seconds) + Double(attoseconds) / 1e18)",
      ])
  }
}
