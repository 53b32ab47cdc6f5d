import Testing

@testable import FanOutLoad

@Suite struct LatenciesTests {
  /// Whether the value is correct to three digits.
  private func isAbout(_ figure: UInt64, _ expected: UInt64) -> Bool {
    figure >= expected && Double(figure) <= Double(expected) * 1.001
  }

  @Test func percentilesAreRightToThreeDigitsAndTheMaximumExactly() {
    var latencies = Latencies()
    // 1 µs to 1 s, evenly spaced, not sorted.
    for step in 0..<1_000_000 { latencies.record(UInt64((step * 7_919) % 1_000_000 + 1) * 1_000) }
    #expect(latencies.count == 1_000_000)
    #expect(isAbout(latencies.percentile(50), 500_000_000))
    #expect(isAbout(latencies.percentile(99), 990_000_000))
    #expect(latencies.maximum == 1_000_000_000)
    #expect(latencies.percentile(100) == latencies.maximum)
  }

  @Test func oneOutlierInAHundredIsAboveP99() {
    var latencies = Latencies()
    for _ in 0..<99 { latencies.record(1_000) }
    latencies.record(5_000_000)
    #expect(isAbout(latencies.percentile(99), 1_000))
    #expect(latencies.maximum == 5_000_000)
  }

  @Test func sumsCountBoth() {
    var one = Latencies()
    var other = Latencies()
    for _ in 0..<100 { one.record(10) }
    for _ in 0..<300 { other.record(90) }
    one.add(other)
    #expect(one.count == 400)
    #expect(one.percentile(25) == 10)
    #expect(one.percentile(26) == 90)
  }

  @Test func emptyIsZeroAndTheLongestAreKept() {
    var latencies = Latencies()
    #expect(latencies.percentile(99) == 0)
    #expect(latencies.maximum == 0)
    latencies.record(.max)
    #expect(latencies.maximum == Latencies.limit)
  }
}
