extension Duration {
  /// The longest time that is measured: 100 years of 365 days. Added to the current time, it still
  /// fits into clocks and timers that count nanoseconds in 64 bits.
  static var longestTimeout: Duration { .seconds(100 * 365 * 86_400) }

  /// The time to wait for this timeout: zero if it is negative, `nil` (no limit) if it is more than
  /// 100 years.
  @usableFromInline var asTimeout: Duration? {
    self > .longestTimeout ? nil : max(self, .zero)
  }
}
