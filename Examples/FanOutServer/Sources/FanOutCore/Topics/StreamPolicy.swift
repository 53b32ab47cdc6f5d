internal import Multicast

/// What happens when the buffer of a subscriber is full.
enum StreamPolicy: String, CaseIterable, Sendable {
  /// The oldest events are dropped; a notice gives their number.
  case dropOldest
  /// Only the newest event waits; a notice gives the number of dropped ones.
  case latest
  /// The stream ends after the waiting events.
  case disconnect

  func buffering(_ limit: Int) -> BufferingPolicy<Event> {
    switch self {
    case .dropOldest: .bounded(limit, whenFull: .dropOldest)
    case .latest: .latest
    case .disconnect: .bounded(limit, whenFull: .disconnect)
    }
  }
}
