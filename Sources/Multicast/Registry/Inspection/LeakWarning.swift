/// More registrations of one line than a hub should have at once: perhaps a leak.
///
/// ## Thread safety
/// A value: any thread may use its copy.
public struct LeakWarning: Sendable, Hashable, CustomStringConvertible {
  /// The name of the hub, if it has one.
  public let hub: String?

  /// The line.
  public let site: CallSite

  /// The number of registrations that were made there and have not ended.
  public let count: Int

  /// The warning in words.
  public var description: String {
    "\(messagePrefix(hub)) \(count) registrations were made at \(site) and have not ended."
  }
}
