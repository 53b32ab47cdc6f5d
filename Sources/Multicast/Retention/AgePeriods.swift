/// Which events have reached an age, without a time for each of them.
///
/// Events are in periods of a 64th of that age, and all events of a period reach it together: at
/// most a 64th late.
struct AgePeriods: ~Copyable {
  private let age: Duration
  /// Oldest first. `through` is the number of the last event before `end`.
  private var periods = RingBuffer<(end: Duration, through: UInt64)>()

  init(_ age: Duration) {
    self.age = age
  }

  /// Adds the newest event.
  ///
  /// - Complexity: amortised O(1).
  mutating func add(_ number: UInt64, now: Duration) {
    if !periods.isEmpty, now < periods[periods.count - 1].end {
      periods[periods.count - 1].through = number
    } else {
      periods.append((now + age / 64, number))
    }
  }

  /// Removes the oldest period if its events have reached the age.
  ///
  /// - Returns: the number of the last event of that period.
  /// - Complexity: amortised O(1).
  mutating func popOld(now: Duration) -> UInt64? {
    guard !periods.isEmpty, periods[0].end + age <= now else { return nil }
    return periods.popFirst()?.through
  }

  /// Whether all events have reached the age.
  func areOld(now: Duration) -> Bool {
    !periods.isEmpty && periods[periods.count - 1].end + age <= now
  }
}
