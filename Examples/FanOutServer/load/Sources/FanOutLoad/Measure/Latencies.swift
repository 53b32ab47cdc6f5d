internal import Histogram
internal import NIOCore

/// How long deliveries took, in nanoseconds, to three significant digits.
struct Latencies: Sendable {
  /// Longer ones count as this long.
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

  /// The longest, exactly; 0 if there is none.
  var maximum: UInt64 { count == 0 ? 0 : histogram.maxRecorded }

  /// The smallest latency that `percent` of all did not exceed, up to three digits; 0 if there is none.
  func percentile(_ percent: Double) -> UInt64 {
    count == 0 ? 0 : min(histogram.valueAtPercentile(percent), maximum)
  }
}

/// The monotonic clock that both ends of a measurement read, in nanoseconds.
enum Clock {
  static var now: UInt64 { NIODeadline.now().uptimeNanoseconds }
}
