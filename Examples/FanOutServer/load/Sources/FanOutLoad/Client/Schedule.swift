/// When events are published.
struct Schedule: Equatable, Sendable {
  /// Events in one run, at most.
  static let limit = 1 << 24

  /// How many.
  enum Extent: Equatable, Sendable {
    case events(Int)
    case seconds(Double)
  }

  /// Events per second; 0 means each as soon as the one before was acknowledged.
  var rate: Double
  /// How many published events may be on their way to a stream; 0 means any number.
  var window: Int
  var extent: Extent
}

extension Schedule {
  /// When event `index` is due, in nanoseconds after the start.
  func due(_ index: Int) -> UInt64 {
    rate == 0 ? 0 : UInt64(Double(index) * 1e9 / rate)
  }

  /// True if there is an event `index`, which is due or could be sent at `elapsed` nanoseconds.
  func includes(_ index: Int, elapsed: UInt64) -> Bool {
    guard index < Self.limit else { return false }
    return switch extent {
    case .events(let count): index < count
    case .seconds(let seconds): Double(max(due(index), elapsed)) < seconds * 1e9
    }
  }
}
