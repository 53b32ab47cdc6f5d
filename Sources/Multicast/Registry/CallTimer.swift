internal import CMulticast
internal import Synchronization

/// How long the calls of a handler or a delegate took, as far as they were measured.
///
/// ## Thread safety
/// A value: any thread may use its copy.
public struct CallTiming: Sendable, Hashable, Codable {
  /// The number of calls that have begun.
  public let calls: Int

  /// The seconds that the last measured call took; `nil` if none was measured.
  public let last: Double?

  /// The seconds that the slowest measured call took; `nil` if none was measured.
  public let slowest: Double?
}

/// A measured call of a handler or a delegate that took long.
///
/// ## Thread safety
/// A value: any thread may use its copy.
public struct SlowHandlerWarning: Sendable, Hashable, CustomStringConvertible {
  /// The name of the hub, if it has one.
  public let hub: String?

  /// The line that subscribed or added; `nil` if it is not known.
  public let site: CallSite?

  /// The label of the subscription or registration.
  public let label: String?

  /// How long the call took.
  public let duration: Duration

  let kind: CallTimer.Kind

  /// The warning in words.
  public var description: String {
    let label = label.map { " \"\($0)\"" } ?? ""
    let place = site.map { " of \($0)" } ?? ""
    return "\(messagePrefix(hub)) a call of the \(kind)\(label)\(place) took \(duration)."
  }
}

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
    let (seconds, attoseconds) = limit.asTimeout?.components ?? (100 * 366 * 86_400, 0)
    self.limit =
      UInt64(max(0, seconds)) * 1_000_000_000 + UInt64(max(0, attoseconds) / 1_000_000_000)
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

/// Measures the calls of one handler or delegate.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class CallTimer: Sendable {
  /// What is called.
  enum Kind: Sendable, Hashable {
    case handler
    case delegate
  }

  let kind: Kind
  private let plan: TimingPlan
  private let hub: String?
  private let place: OriginWord
  private let label: String?
  // Relaxed, all four: statistics. No thread reads anything through them.
  private let calls = Atomic<Int>(0)
  /// In nanoseconds; 0: no call was measured.
  private let last = Atomic<UInt64>(0)
  private let slowest = Atomic<UInt64>(0)
  /// The nanoseconds above which a call is reported.
  private let threshold: Atomic<UInt64>

  init(_ plan: TimingPlan, _ kind: Kind, hub: String?, _ origin: Origin) {
    self.plan = plan
    self.kind = kind
    self.hub = hub
    place = OriginWord(place: origin)
    label = origin.label
    threshold = Atomic(plan.limit)
  }

  /// A call begins.
  ///
  /// - Returns: the time, or 0 if this call is not measured.
  @inline(__always)
  func begin() -> UInt64 {
    let number = calls.wrappingAdd(1, ordering: .relaxed).oldValue
    return number & plan.mask == 0 ? cmulticast_monotonic_nanoseconds() : 0
  }

  /// A call has ended. Runs user code if it took long.
  ///
  /// - Parameter began: what ``begin()`` returned.
  @inline(__always)
  func end(_ began: UInt64) {
    if began != 0 { record(cmulticast_monotonic_nanoseconds() &- began) }
  }

  @inline(never)
  private func record(_ duration: UInt64) {
    let duration = max(1, duration)
    last.store(duration, ordering: .relaxed)
    slowest.max(duration, ordering: .relaxed)
    guard let onSlow = plan.onSlow else { return }
    let reported = threshold.load(ordering: .relaxed)
    guard duration > reported else { return }
    // Not once per call: a handler that is always slow would be reported for ever.
    let isOurs = threshold.compareExchange(
      expected: reported, desired: duration &* 2, ordering: .relaxed
    ).exchanged
    guard isOurs else { return }
    onSlow(
      SlowHandlerWarning(
        hub: hub, site: place.site, label: label,
        duration: .nanoseconds(Int64(clamping: duration)), kind: kind))
  }

  var timing: CallTiming {
    let last = last.load(ordering: .relaxed)
    let slowest = slowest.load(ordering: .relaxed)
    return CallTiming(
      calls: calls.load(ordering: .relaxed), last: last > 0 ? Double(last) / 1e9 : nil,
      slowest: slowest > 0 ? Double(slowest) / 1e9 : nil)
  }
}

extension Registry {
  /// What the entry of a delegate keeps of its origin, with a timer if the hub measures its
  /// delegates.
  @inline(__always)
  func wordOfDelegate(_ origin: Origin) -> OriginWord {
    isInspected ? timedWord(of: origin) : word(of: origin)
  }

  @inline(never)
  private func timedWord(of origin: Origin) -> OriginWord {
    guard let plan = currentTiming, plan.kind == .delegate else { return word(of: origin) }
    var origin = origin
    origin.timer = CallTimer(plan, .delegate, hub: name, origin)
    return word(of: origin)
  }
}
