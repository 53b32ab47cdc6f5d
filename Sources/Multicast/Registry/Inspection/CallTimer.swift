internal import CMulticast
internal import Synchronization

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
  private let siteWord: OriginWord
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
    siteWord = OriginWord(siteOf: origin)
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
        hub: hub, site: siteWord.site, label: label,
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
