/// What is measured of the handlers or delegates of a hub.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class TimingPlan: Sendable {
  /// One less than a power of two: a call is measured if its number has none of these bits.
  let mask: Int
  /// In nanoseconds.
  let limit: UInt64
  let onSlow: (@Sendable (SlowHandlerWarning) -> Void)?

  let kind: CallTimer.Kind
  private let hub: String?

  /// - Parameters:
  ///   - kind: what is measured.
  ///   - hub: the name of the hub, for messages.
  init(
    sampling interval: Int, _ limit: Duration,
    _ onSlow: (@Sendable (SlowHandlerWarning) -> Void)?, _ kind: CallTimer.Kind = .handler,
    hub: String?
  ) {
    require(
      interval > 0,
      "\(messagePrefix(hub)) one of \(interval) calls cannot be measured; use at least 1.")
    self.kind = kind
    self.hub = hub
    // Wrapping: 2^63, for an interval above 2^62, is `Int.min`, and its mask `Int.max`.
    mask = interval > 1 ? (1 << (Int.bitWidth - (interval - 1).leadingZeroBitCount)) &- 1 : 0
    let (seconds, attoseconds) = (limit.asTimeout ?? .longestTimeout).components
    self.limit = UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
    self.onSlow = onSlow
  }

  /// Begins to measure.
  ///
  /// - Precondition: nothing is measured yet.
  func install(in timing: borrowing LazyReference<TimingPlan>) {
    require(
      timing.install(self) == nil,
      "\(messagePrefix(hub)) \(kind)s are measured already; call measure\(kind == .handler ? "Handlers" : "Delegates") once."
    )
  }
}
