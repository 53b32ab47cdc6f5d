/// The order of the events on one stream: each exactly once, from 0 on.
struct SequenceCheck: Equatable {
  /// The number that has to come next.
  private(set) var expected = 0
  /// Events that were skipped before a later one came.
  private(set) var missed = 0
  /// Events that came again, or after a later one.
  private(set) var repeated = 0

  /// Takes the number of an event that has come; false if it came again or too late.
  @inline(__always)
  mutating func receive(_ sequence: Int) -> Bool {
    if sequence == expected {
      expected += 1
      return true
    }
    if sequence < expected {
      repeated += 1
      return false
    }
    missed += sequence - expected
    expected = sequence + 1
    return true
  }

  /// Events that are missing when `published` were sent, also at the end.
  func missing(of published: Int) -> Int { missed + max(0, published - expected) }
}
