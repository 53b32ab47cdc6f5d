/// The times at which events are published.
struct Schedule: Equatable, Sendable {
  /// Maximum number of events in one run.
  static let limit = 1 << 24

  /// When the schedule ends.
  enum Extent: Equatable, Sendable {
    case events(Int)
    case seconds(Double)
  }

  /// Events per second; 0: each as soon as the one before is acknowledged.
  var rate: Double
  /// Published events that some stream may not have yet; 0: no limit.
  var window: Int
  var extent: Extent
}

extension Schedule {
  /// The time of event `index` in nanoseconds after the start.
  func due(_ index: Int) -> UInt64 {
    rate == 0 ? 0 : UInt64(Double(index) * 1e9 / rate)
  }

  /// Whether the schedule has an event `index`, given that `elapsed` nanoseconds have passed.
  func includes(_ index: Int, elapsed: UInt64) -> Bool {
    guard index < Self.limit else { return false }
    return switch extent {
    case .events(let count): index < count
    case .seconds(let seconds): Double(max(due(index), elapsed)) < seconds * 1e9
    }
  }
}
