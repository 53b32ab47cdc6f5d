/// With which event a subscription to a hub that retains begins.
///
/// ## Thread safety
/// A value: any thread may use its copy.
public enum SubscriptionStart: Hashable, Sendable {
  /// With the next event.
  case live
  /// With the oldest event that is retained.
  case retained
  /// With the newest events that are retained, at most this many.
  case last(Int)
  /// With the event after this position. The subscriber first receives a notice of what is no
  /// longer retained.
  ///
  /// If more than `atMost` events are retained after it, only the newest `atMost` follow, and the
  /// others count as no longer retained.
  case after(EventPosition, atMost: Int = .max)
}

extension SubscriptionStart {
  /// Ends the process if the number of events is negative.
  ///
  /// - Parameter hub: the name of the hub, for the message.
  func requireValidCount(_ hub: String?) {
    switch self {
    case .last(let count), .after(_, atMost: let count):
      require(
        count >= 0,
        "\(messagePrefix(hub)) a subscription cannot begin with \(self): the count is negative.")
    case .live, .retained: break
    }
  }
}
