public import Synchronization

/// The number of entries of a hub of events, and whether and how the hub has finished.
///
/// The hub shares it with its subscriptions, which may outlive the hub, and with its sequencer: a
/// sender in a hub with one order need not take the writers' lock for the number.
///
/// ## Thread safety
/// Every operation may be called from any thread, outside of any lock.
@usableFromInline
class HubState: RegistryExtras, @unchecked Sendable {
  // Sendable: everything that it adds is atomic; a subclass says why its own state may.

  /// Decides how the hub has finished. See ``end``.
  private let lazyEnd = LazyReference<Completion>()

  // Sequentially consistent, both: a thread changes `count` and then reads `monitor`; one that
  // begins to observe sets `monitor` and then reads `count`. One of the two sees the other.
  private let monitor = Atomic<Unmanaged<SubscriberMonitor>?>(nil)

  // 32 bits: a list has at most 2^28 entries. Every topic has a state.
  private let count = Atomic<Int32>(0)

  /// What ``entriesExpected(by:)`` counts, less the removed entries: never less than the number of
  /// entries.
  // Sequentially consistent, as `count`.
  private let expected = Atomic<Int32>(0)

  /// What a sender checks: 0 if the hub accepts events. The lowest bit: it has finished; the others
  /// are the number of its blocks.
  @usableFromInline final let gate = Atomic<UInt32>(0)

  /// Whether the hub has finished: the flag that ``publish()`` raises before it closes `gate`.
  @usableFromInline final let isRaised = Atomic(false)

  deinit {
    // Relaxed: no other thread has a reference.
    monitor.load(ordering: .relaxed)?.release()
  }

  override func entriesChanged(by difference: Int) { add(difference) }

  override func entriesExpected(by difference: Int) {
    expect(difference)
    if difference < 0 { current?.update(self) }
  }

  override var failure: (any Error)? {
    guard let end = lazyEnd.current, end.isComplete else { return nil }
    publish()
    return end.failure
  }

  /// Called once, before the subscribers end.
  func hubWillFinish() {}

  /// Called once, after the subscribers have ended.
  func hubDidFinish() {}

  /// Called at the end of the hub, which has finished.
  func hubIsGone() {}

  /// Where the hub adds the keys that its subscribers carry, for the hubs that pass their events on
  /// to it.
  var keysForOrigins: CarriedKeySet? { nil }

  /// The counter of drops of a hub that contains the hub.
  var containingDrops: DropCounter? { nil }
}

// MARK: - Finishing and blocking

extension HubState {
  /// How the hub has finished, for its sequences. They keep it, and not the state, which has
  /// closures of the user.
  final var end: Completion { lazyEnd.current(or: Completion()) }

  /// Finishes, unless that has happened before.
  ///
  /// - Returns: whether this call has finished. Only then does `failure` count.
  final func complete(_ failure: (any Error)?) -> Bool {
    let isFirst = end.complete(failure)
    // Also by a thread that is not the first: it may return before the first one publishes.
    publish()
    return isFirst
  }

  /// Makes the end visible. It must not matter how often.
  final func publish() {
    // Sequentially consistent: see `EventHub.finish`.
    isRaised.store(true, ordering: .sequentiallyConsistent)
    // Releasing: a sender that finds the gate closed for good finds the flag raised.
    gate.bitwiseOr(1, ordering: .releasing)
  }

  /// Whether the hub accepts events.
  @inlinable @inline(__always)
  final var isOpen: Bool {
    // Acquiring: a sender that finds the gate closed by `finish` then finds the flag raised.
    gate.load(ordering: .acquiring) == 0
  }

  /// Whether senders skip all subscribers.
  final var isBlocked: Bool { gate.load(ordering: .acquiring) > 1 }  // Acquiring: as above.

  final func block() {
    // Pairs with the load of `isOpen`. Releasing would be enough; only a block pays for more.
    gate.wrappingAdd(2, ordering: .acquiringAndReleasing)
  }

  final func unblock() {
    let old = gate.wrappingSubtract(2, ordering: .acquiringAndReleasing).oldValue  // Likewise.
    Entry.requireBlock(Int(old >> 1))
  }
}

// MARK: - Counting

extension HubState {
  /// Counts entries that were added, or removed if negative.
  final func add(_ difference: Int) {
    count.wrappingAdd(Int32(difference), ordering: .sequentiallyConsistent)
    // At once: the hooks, which run later, may wait for those that wait for the end.
    if difference < 0 { expect(difference) }
    current?.update(self)
  }

  private func expect(_ difference: Int) {
    expected.wrappingAdd(Int32(difference), ordering: .sequentiallyConsistent)
  }

  /// The number of entries. Never negative, although a removal may be counted before the addition.
  final var total: Int { Int(max(0, count.load(ordering: .sequentiallyConsistent))) }

  /// Whether there is no entry, and none is being added.
  ///
  /// Not the same as ``total`` being 0: if an entry is removed before its addition is counted,
  /// another one may be left.
  final var isEmpty: Bool { expected.load(ordering: .sequentiallyConsistent) == 0 }

  /// Reports the number from now on.
  final func observe() -> SubscriberMonitor {
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
    new.update(self)
    return new
  }

  /// The monitor, if the number is observed.
  final var current: SubscriberMonitor? {
    // SAFETY: as above.
    monitor.load(ordering: .sequentiallyConsistent)?.takeUnretainedValue()
  }
}

/// The state of a hub with a name, hooks, a source, or a hub that contains it.
final class DetailedState: HubState, @unchecked Sendable {
  // Sendable: `source` is set before the hub is used, and then used by the thread that finishes it.

  private let hubName: String?
  private let shared: HubInspection?
  private let hooks: SubscriberHooks?
  private let onChange: (@Sendable (Int) -> Void)?
  private let onExpectation: (@Sendable (Int) -> Void)?
  private let drops: DropCounter?
  private let carried: CarriedKeySet?
  /// Where the events come from, if the hub knows it. Stopped when the hub finishes.
  private var source: (any HubSource)?

  /// - Parameters:
  ///   - inspection: see ``RegistryExtras/sharedInspection``.
  ///   - hooks: told of all subscribers.
  ///   - drops: see ``HubState/containingDrops``.
  ///   - carried: see ``HubState/keysForOrigins``.
  ///   - source: where the events come from.
  ///   - onExpectation: called with what ``RegistryExtras/entriesExpected(by:)`` is, and with the
  ///     number of subscribers removed, as a negative number.
  ///   - onChange: called with the number of subscribers added, or removed if negative.
  init(
    _ name: String?, inspection: HubInspection? = nil, hooks: SubscriberHooks? = nil,
    drops: DropCounter? = nil, carried: CarriedKeySet? = nil,
    source: (any HubSource)? = nil, onExpectation: (@Sendable (Int) -> Void)? = nil,
    onChange: (@Sendable (Int) -> Void)? = nil
  ) {
    hubName = name
    shared = inspection
    self.hooks = hooks
    self.drops = drops
    self.carried = carried
    self.source = source
    self.onExpectation = onExpectation
    self.onChange = onChange
    super.init()
  }

  override var name: String? { hubName }

  override var sharedInspection: HubInspection? { shared }

  override var containingDrops: DropCounter? { drops }

  override var keysForOrigins: CarriedKeySet? { carried }

  override func entriesChanged(by difference: Int) {
    super.entriesChanged(by: difference)
    hooks?.change(by: difference)
    onChange?(difference)
    if difference < 0 { onExpectation?(difference) }
  }

  override func entriesExpected(by difference: Int) {
    super.entriesExpected(by: difference)
    hooks?.expect(by: difference)
    onExpectation?(difference)
  }

  override func hubWillFinish() { source?.close() }

  override func hubDidFinish() {
    let source = source
    self.source = nil
    source?.stop()
  }
}
