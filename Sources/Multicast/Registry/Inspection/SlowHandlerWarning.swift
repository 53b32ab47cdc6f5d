/// A measured call of a handler or a delegate that took long.
///
/// ## Thread safety
/// A value: any thread may use its copy.
public struct SlowHandlerWarning: Sendable, Hashable, CustomStringConvertible {
  /// The name of the hub, if it has one.
  public let hub: String?

  /// The line that subscribed or added; `nil` if it is not known.
  public let site: CallSite?

  /// The label of the subscription or registration.
  public let label: String?

  /// How long the call took.
  public let duration: Duration

  let kind: CallTimer.Kind

  /// The warning in words.
  public var description: String {
    let label = label.map { " \"\($0)\"" } ?? ""
    let site = site.map { " of \($0)" } ?? ""
    return "\(messagePrefix(hub)) a call of the \(kind)\(label)\(site) took \(duration)."
  }
}
