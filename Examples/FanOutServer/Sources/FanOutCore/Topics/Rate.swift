/// A rate per second over the last ten whole seconds.
struct Rate {
  private static let window = 10

  /// One count per second, at the index `second % counts.count`.
  private var counts = [Int](repeating: 0, count: window + 1)
  private var newest = 0
}

extension Rate {
  /// - Parameter second: of a monotonic clock.
  mutating func add(_ count: Int = 1, at second: Int) {
    advance(to: second)
    counts[second % counts.count] += count
  }

  func perSecond(at second: Int) -> Double {
    var copy = self
    copy.advance(to: second)
    let current = copy.counts[second % counts.count]
    return Double(copy.counts.reduce(0, +) - current) / Double(Self.window)
  }

  private mutating func advance(to second: Int) {
    guard second > newest else { return }
    for skipped in max(newest + 1, second - Self.window)...second {
      counts[skipped % counts.count] = 0
    }
    newest = second
  }
}
