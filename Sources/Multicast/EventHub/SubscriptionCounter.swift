internal import Synchronization

/// The number of entries of a hub. A sender in a hub with one order need not take the writers' lock
/// for it, and it can be observed.
///
/// The registry keeps it, and subscriptions keep the registry. So it is not part of the sequencer,
/// whose events must not outlive the hub.
///
/// ## Thread safety
/// Every operation may be called from any thread, outside of any lock.
final class SubscriptionCounter: RegistryExtras, @unchecked Sendable {
  // Sendable: everything that it adds is atomic.

  // Sequentially consistent, both: a thread changes `count` and then reads `monitor`; one that begins
  // to observe sets `monitor` and then reads `count`. One of the two sees the other.
  private let count = Atomic<Int>(0)
  private let monitor = Atomic<Unmanaged<SubscriberMonitor>?>(nil)

  /// How the hub has finished, if it has: for handles, which keep the registry.
  let completion: Completion

  init(
    name: String? = nil, completion: Completion = FinishFlag(), inspection: HubInspection? = nil,
    onChange: (@Sendable (Int) -> Void)? = nil
  ) {
    self.completion = completion
    super.init(name, inspection: inspection, onChange: onChange)
  }

  deinit {
    // Relaxed: no other thread has a reference.
    monitor.load(ordering: .relaxed)?.release()
  }

  override func entriesChanged(by difference: Int) {
    add(difference)
    super.entriesChanged(by: difference)
  }

  /// Counts entries that were added, or removed if negative.
  func add(_ difference: Int) {
    count.wrappingAdd(difference, ordering: .sequentiallyConsistent)
    current?.update { total }
  }

  /// Never negative, although a removal may be counted before the addition.
  var total: Int { max(0, count.load(ordering: .sequentiallyConsistent)) }

  /// Reports the number from now on.
  func observe() -> SubscriberMonitor {
    if let current { return current }
    let new = SubscriberMonitor()
    let retained = Unmanaged.passRetained(new)
    let (isFirst, other) = monitor.compareExchange(
      expected: nil, desired: retained, ordering: .sequentiallyConsistent)
    // SAFETY: a monitor that was set is released by `deinit` alone.
    guard isFirst else {
      retained.release()
      return other!.takeUnretainedValue()
    }
    new.update { total }
    return new
  }

  /// The monitor, if the number is observed.
  var current: SubscriberMonitor? {
    // SAFETY: as above.
    monitor.load(ordering: .sequentiallyConsistent)?.takeUnretainedValue()
  }
}
