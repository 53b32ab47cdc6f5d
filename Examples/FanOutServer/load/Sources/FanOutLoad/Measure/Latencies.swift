internal import Histogram
internal import NIOCore

/// Latencies of deliveries in nanoseconds, with three significant digits.
struct Latencies: Sendable {
  /// Longer latencies are recorded as this value.
  static let limit: UInt64 = 600_000_000_000

  private var histogram = Histogram<UInt64>(
    highestTrackableValue: limit, numberOfSignificantValueDigits: .three)
}

extension Latencies {
  @inline(__always)
  mutating func record(_ nanoseconds: UInt64) {
    _ = histogram.record(min(nanoseconds, Self.limit))
  }

  mutating func add(_ other: Latencies) { histogram.add(other.histogram) }

  var count: UInt64 { histogram.totalCount }

  /// The exact maximum; 0 if there is no latency.
  var maximum: UInt64 { count == 0 ? 0 : histogram.maxRecorded }

  /// The smallest latency that `percent` of all did not exceed, with three digits; 0 if there is
  /// none.
  func percentile(_ percent: Double) -> UInt64 {
    count == 0 ? 0 : min(histogram.valueAtPercentile(percent), maximum)
  }
}

/// The monotonic clock of a measurement, in nanoseconds.
enum Clock {
  static var now: UInt64 { NIODeadline.now().uptimeNanoseconds }
}
