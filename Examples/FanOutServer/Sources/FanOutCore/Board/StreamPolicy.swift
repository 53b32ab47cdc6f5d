internal import Multicast

/// What happens to the events for a subscriber that is too slow.
enum StreamPolicy: String, CaseIterable, Sendable {
  /// The oldest that wait are dropped; the subscriber is told how many.
  case dropOldest
  /// Only the newest waits; the subscriber is told how many it has missed.
  case latest
  /// The subscriber gets what waits, and is then disconnected.
  case disconnect

  func buffering(_ limit: Int) -> BufferingPolicy<Entry> {
    switch self {
    case .dropOldest: .bounded(limit, whenFull: .dropOldest)
    case .latest: .latest
    case .disconnect: .bounded(limit, whenFull: .disconnect)
    }
  }
}
