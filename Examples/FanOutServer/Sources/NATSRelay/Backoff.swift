#if NATS
  /// How long to wait before the next attempt: twice as long each time, up to a limit, and shortened
  /// at random, so that servers that lost their broker together do not come back together.
  struct Backoff {
    private static let shortest = 100.0
    private static let longest = 5_000.0

    private var milliseconds = shortest

    /// Whether there has been no attempt since the last success.
    var isFresh: Bool { milliseconds == Self.shortest }

    mutating func next() -> Duration {
      defer { milliseconds = min(2 * milliseconds, Self.longest) }
      return .milliseconds(.random(in: milliseconds / 2...milliseconds))
    }

    mutating func reset() { milliseconds = Self.shortest }
  }
#endif
