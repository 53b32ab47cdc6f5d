internal import Synchronization

/// A mailbox state under a lock, and a consumer to wake.
///
/// A sender appends inside the lock. It performs the effects (waking the consumer, resuming
/// senders, destroying dropped envelopes) outside.
///
/// ## Thread safety
/// Every operation may be called from any thread.
@usableFromInline
class Mailbox: @unchecked Sendable {
  // Sendable: `state` and `isDeserted` are used only inside `withLock`, `blockedFlushes` and
  // `hasNewSignal` are atomic, and other variables do not change once the entry, or the mailbox in
  // it, is published, except `isDirect`: in a hub with one order, only the thread that has the role
  // of delivering uses it then, and a lock hands that role over. Subclasses explain their own
  // state.

  /// The lock of a mailbox that does not share one.
  private let ownLock = Lock()
  // Unchecked, because each check costs as much as an append: the lock excludes other accesses, and
  // no critical section accesses the state of a mailbox inside another access.
  @exclusivity(unchecked) final var state: MailboxState
  /// Counts the drops of the whole hub.
  final let drops: DropCounter?
  /// Whether every delivery goes through the mailbox, because it came with the registration. If
  /// not, an invocation that calls each delegate on its own actor added it.
  @usableFromInline final let isPlace: Bool
  /// Whether a sender may append every envelope, without a step of the subscriber before. Set
  /// before the entry is published, or by the sender that delivers, in a hub with one order.
  @exclusivity(unchecked) @usableFromInline final var isDirect = false
  /// Whether the consumer reads events elsewhere, and an element only tells it to do so. Set before
  /// the entry is published.
  @exclusivity(unchecked) @usableFromInline final var isFollowing = false
  /// Whether the actor of the consumer is gone, so that nothing is called any more. Set before the
  /// entry is removed because of that.
  @exclusivity(unchecked) final var isDeserted = false
  /// `true` only if the mailbox is open and a signal waits that the consumer has not taken. Stored
  /// inside the lock.
  // Relaxed everywhere: what a signal tells of was stored inside another lock, of a log, of an
  // answer or of an end, which the consumer takes after it has taken the signal. If it takes that
  // lock after the sender, it finds what the sender has stored; if before, the sender finds `false`
  // here.
  private let hasNewSignal = Atomic<Bool>(false)
  /// Where the entry was made, owned. Set before the entry, or the mailbox in it, is published.
  @exclusivity(unchecked) final private(set) var origin = OriginWord.unknown
  /// The object whose lock the mailbox shares; `nil` if it has a lock of its own.
  final let lockOwner: Unmanaged<AnyObject>?
  // SAFETY: the subclass keeps the owner.
  private let sharedLock: LockReference?

  /// The number of threads that block in a flush inside a callback of this mailbox.
  // Sequentially consistent everywhere: see `Registry.flush(timeout:)`.
  private let blockedFlushes = Atomic<Int>(0)

  /// - Parameters:
  ///   - lock: that of `lockOwner`, if there is one.
  ///   - lockOwner: kept by the subclass.
  init(
    _ state: consuming MailboxState, drops: DropCounter? = nil, isPlace: Bool = true,
    lock: LockReference? = nil, lockOwner: AnyObject? = nil
  ) {
    self.isPlace = isPlace
    self.state = state
    self.drops = drops
    sharedLock = lock
    self.lockOwner = lockOwner.map { .passUnretained($0) }
  }

  deinit { origin.release() }

  /// Runs `body` while the calling thread holds the lock that guards `state`. No user code runs
  /// inside. The mailboxes of one actor share a lock.
  @inline(__always) final func withLock<R>(_ body: () -> R) -> R {
    // Until after the unlock, which writes to the lock.
    defer { withExtendedLifetime(self) {} }
    return (sharedLock ?? LockReference(ownLock)).withLock(body)
  }

  /// Owns `origin` from now on. The mailbox may be that of an entry that was not added after all.
  final func adopt(_ origin: OriginWord) {
    self.origin.release()
    self.origin = origin
  }

  /// Does not own its origin any more: the mailbox of another thread does.
  final func disownOrigin() { origin = .unknown }

  /// An empty mailbox with the same consumer, limit and policy; `nil` for a kind that cannot be
  /// replaced.
  func renewed() -> Mailbox? { nil }

  /// Whether both deliver on the same queue, and have the same limit and policy.
  func hasTerms(of other: Mailbox) -> Bool { false }

  /// Where the consumer calls, in words for a snapshot.
  var place: String { "sender" }

  /// Wakes the consumer of `entry`.
  func wake(_ entry: Entry) {
    fatalError("Multicast: every mailbox implements this")
  }

  /// Ends the process unless the calling thread may call a delegate directly, though it was added
  /// with this mailbox.
  ///
  /// - Parameter delegate: the type of the delegate, for the message.
  func requireInlineCall(of delegate: @autoclosure () -> Any.Type) {}

  /// Whether a call that is not on the call stack of a thread is running: an asynchronous one.
  var isCalling: Bool { false }

  /// Whether the current task runs such a call.
  var isCalledByCurrentTask: Bool { false }

  /// Performs the effects of an input of `state`, outside the lock.
  final func perform(_ effects: MailboxState.Effects, for entry: Entry) {
    if effects.wake { wake(entry) }
    finish(effects)
  }

  /// As ``perform(_:for:)``, but does not wake the consumer.
  final func finish(_ effects: MailboxState.Effects) {
    if effects.dropped > 0 { drops?.add(effects.dropped, isUnwaited: effects.isUnwaited) }
    for sender in effects.released { sender.resume() }
    for latch in effects.flushed { latch.countDown() }
  }

  /// Adds `envelope` for `entry`, whose mailbox this is.
  ///
  /// - Parameter entry: held by the caller.
  /// - Returns: whether it waits; otherwise it was dropped or discarded.
  @usableFromInline @discardableResult
  final func enqueue(_ envelope: Envelope, for entry: Unmanaged<Entry>) -> Bool {
    let element = envelope.retained(times: 1)
    switch withLock({ state.offer(taking: element) }) {
    case .accepted: return true
    case .acceptedByIdle:
      // SAFETY: the caller holds the entry.
      wake(entry.takeUnretainedValue())
      return true
    case .declined:
      element.release()
      // SAFETY: the caller holds the entry.
      return enqueueDeclined(envelope, for: entry.takeUnretainedValue())
    }
  }

  /// Whether the consumer has been told to read elsewhere, and has not begun to: then what the
  /// sender has stored in the log needs no other signal.
  @usableFromInline
  final var isSignalled: Bool { hasNewSignal.load(ordering: .relaxed) }

  /// Adds an element that tells the consumer to read elsewhere, unless one waits already.
  final func offerSignal() -> MailboxState.Offer {
    if isSignalled { return .accepted }
    return withLock {
      let offer = state.signal()
      hasNewSignal.store(offer != .declined, ordering: .relaxed)
      return offer
    }
  }

  /// The consumer takes what waits. Inside the lock.
  @inline(__always)
  final func forgetSignal() { hasNewSignal.store(false, ordering: .relaxed) }

  /// Tells the consumer of `entry` to read events, unless an element that does so waits already.
  ///
  /// - Parameter entry: held by the caller.
  /// - Returns: whether the mailbox is open.
  @usableFromInline
  final func signal(for entry: Unmanaged<Entry>) -> Bool {
    switch offerSignal() {
    case .accepted: return true
    case .acceptedByIdle:
      // SAFETY: the caller holds the entry.
      wake(entry.takeUnretainedValue())
      return true
    case .declined: return false
    }
  }

  @inline(never)
  final func enqueueDeclined(_ envelope: Envelope, for entry: Entry) -> Bool {
    let effects = withLock { state.append(envelope) }
    perform(effects, for: entry)
    return effects.isAccepted  // Destroys a dropped envelope here, outside the lock.
  }

  /// See ``MailboxState/close(_:discarded:)``. The end of the hub does nothing if `entry` was
  /// removed before: what removes it closes the mailbox, and may be about to.
  final func close(_ reason: SubscriptionEnd, for entry: Entry) {
    var discarded = ItemBuffer()
    let effects = withLock {
      // Relaxed: whatever follows a load that found the entry inactive finds it inactive. So a
      // finish that follows does not change the end of a cancelled subscription.
      let entryState = entry.head.pointee.state.load(ordering: .relaxed)
      guard reason != .finished || EntryHead.isActive(entryState) else {
        return MailboxState.Effects()
      }
      // No sender has told the consumer of what came during a block, which may be over when it next
      // checks.
      forgetSignal()
      let mustRead = isFollowing && reason == .finished && state.signal() == .acceptedByIdle
      var effects = state.close(reason, discarded: &discarded)
      if mustRead { effects.wake = true }
      return effects
    }
    perform(effects, for: entry)
    // `discarded` is destroyed here, outside the lock.
  }

  var statistics: DeliveryStatistics {
    withLock { state.statistics }
  }

  /// Makes the consumer of `entry` pause while that is blocked, and continue afterwards. Called
  /// after each change, so the last call finds the final state.
  ///
  /// - Parameter extras: those of the registry.
  final func adoptBlock(of entry: Entry, _ extras: RegistryExtras?) {
    let envelope = extras?.envelopeAfterBlock
    let (effects, isBlocked, mustRead) = withLock {
      let effects = state.setBlocked(entry.isBlocked, then: entry.isRegistered ? envelope : nil)
      // No sender has told it of what came while it was blocked.
      let mustRead = isFollowing && !state.isBlocked && state.signalBeforeEnd().wake
      return (effects, state.isBlocked, mustRead)
    }
    finish(effects)
    if effects.wake || mustRead || (!isBlocked && isServed) { resume(entry) }
  }

  /// The consumer finds out whether `entry` is blocked. Inside the lock.
  ///
  /// Not that a block has ended: what follows it is added where the consumer is told of that, and a
  /// consumer that has finished must not leave before.
  final func recordBlock(of entry: Entry) {
    if entry.isBlocked { state.isBlocked = true }
  }

  /// Whether senders deliver what waits, and no consumer is woken.
  var isServed: Bool { false }

  /// Wakes the consumer after the last block.
  func resume(_ entry: Entry) { wake(entry) }

  /// Why the mailbox accepts no more envelopes, or `nil` if it does.
  final var end: SubscriptionEnd? {
    withLock { state.end }
  }

  /// Why the mailbox accepts no more envelopes: it was cancelled, unless there is another reason.
  /// For a caller that has found the entry removed, or its owner gone, though the mailbox had not
  /// ended. Neither the end of the hub nor a full buffer changes what is recorded here.
  final func endOfRemoved() -> SubscriptionEnd {
    withLock {
      let end = state.end ?? .cancelled
      state.end = end
      return end
    }
  }

  /// See ``MailboxState/flush(_:)``.
  final func flush(_ latch: FlushLatch) -> Bool {
    withLock { state.flush(latch) }
  }

  /// See ``MailboxState/withdraw(_:)``.
  final func withdraw(_ latch: FlushLatch) {
    withLock { state.withdraw(latch) }
  }

  /// Whether a thread blocks in a flush inside a callback of this mailbox.
  final var isBlockedInFlush: Bool { blockedFlushes.load(ordering: .sequentiallyConsistent) > 0 }

  /// A thread inside a callback of this mailbox begins a flush (1), or ends it (-1).
  final func addBlockedFlushes(_ difference: Int) {
    blockedFlushes.add(difference, ordering: .sequentiallyConsistent)
  }

  /// Makes no flush wait any more for what the consumer has taken.
  final func abandon() {
    let flushed = withLock {
      state.isAbandoned = true
      return state.takeCompletedFlushes()
    }
    for latch in flushed { latch.countDown() }
  }

  /// Discards what waits, and every later envelope, because the registration of `entry` has ended.
  func cancel(_ entry: Entry) {
    close(.cancelled, for: entry)
  }

  /// As ``cancel(_:)``, for a consumer that has nothing to do at the end: does not wake it.
  final func cancelWithoutWaking(_ entry: Entry) {
    var discarded = ItemBuffer()
    // A flush waits for a last call, which has cancelled this itself, until that is forgotten.
    let mayAbandon = !LastCalls.shared.contains(entry.identity)
    let effects = withLock {
      forgetSignal()
      if mayAbandon { state.isAbandoned = true }
      return state.close(.cancelled, discarded: &discarded)
    }
    finish(effects)
    // `discarded` is destroyed here, outside the lock.
  }
}
