extension Duration {
  /// The longest timeout that is measured: 100 years of 365 days. Clocks and the system's timers,
  /// many of which count nanoseconds in 64 bits, can still add it to the time they have.
  private static var longestTimeout: Duration { .seconds(100 * 365 * 86_400) }

  /// The time to wait where this is the timeout: zero if it is negative, and `nil`, for as long as
  /// it takes, if it is more than 100 years.
  @usableFromInline var asTimeout: Duration? {
    self > .longestTimeout ? nil : max(self, .zero)
  }
}
