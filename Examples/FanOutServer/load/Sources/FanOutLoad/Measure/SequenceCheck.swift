/// Checks that one stream gets each event exactly once and in order, from 0.
struct SequenceCheck: Equatable {
  /// The next expected number.
  private(set) var expected = 0
  /// Events that were skipped.
  private(set) var missed = 0
  /// Events that arrived again, or after a later one.
  private(set) var repeated = 0

  /// Records the number of an event; false if it arrived again or too late.
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

  /// The number of missing events after `published` ones, including missing ones at the end.
  func missing(of published: Int) -> Int { missed + max(0, published - expected) }
}
