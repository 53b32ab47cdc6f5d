/// A mailbox whose consumer calls a delegate or a handler, on the thread that drains it.
///
/// ## Thread safety
/// Every operation may be called from any thread, except ``drain(_:)``: subclasses call it on one
/// thread at a time.
class HandlerMailbox: Mailbox, @unchecked Sendable {
  // Sendable: `batch` and `progress` are used only by the draining thread, `isAtEnd` only inside
  // `lock`; the rest does not change once the entry is published.

  /// The largest number of elements that one drain delivers.
  static var share: Int { 64 }

  /// Gets the elements, which are events or signals; `nil`: they are calls. Set before the entry,
  /// which owns it, is published. Not a closure that finds the handler in the entry: to look up the
  /// types of a value costs much more than a delivery.
  final var receiver: Unmanaged<ElementReceiver>?
  final let whenExhausted: (@Sendable (Entry) -> Void)?
  // Unchecked, as `state`: only the draining thread accesses it, and no user code runs in an
  // access.
  @exclusivity(unchecked) private var batch = ItemBuffer()
  /// How far the receiver has come, if an element may stand for many calls. Set before the entry is
  /// published.
  final var progress: ReceiverProgress?
  /// Whether the mailbox was exhausted after a drain: `whenExhausted` has run, or is about to.
  private var isAtEnd = false

  /// - Parameters:
  ///   - state: the initial state, with limit and policy.
  ///   - drops: counts the drops of the whole hub.
  ///   - runQueue: the run queue whose lock the mailbox shares. The subclass keeps it.
  ///   - whenExhausted: runs when everything was delivered and no more elements will follow.
  init(
    _ state: consuming MailboxState, drops: DropCounter?, runQueue: ActorRunQueue? = nil,
    whenExhausted: (@Sendable (Entry) -> Void)?
  ) {
    self.whenExhausted = whenExhausted
    super.init(
      state, drops: drops, lock: runQueue.map { LockReference($0.lock) }, lockOwner: runQueue)
  }

  /// Does not wake the consumer, because nothing is left to deliver and its queue might be
  /// suspended for long.
  final override func cancel(_ entry: Entry) { cancelWithoutWaking(entry) }

  /// Delivers what waits, up to the share.
  ///
  /// - Returns: whether to drain again.
  final func drain(_ entry: Entry) -> Bool {
    if let effects = withLock({ take(Self.share, for: entry).effects }) { finish(effects) }
    return finishDrain(deliverTaken(to: entry, keeping: nil), of: entry)
  }

  /// As ``drain(_:)``, of an element that the caller has taken, and finds that it cannot deliver.
  final func drain(_ entry: Entry, _ element: EnvelopeReference) {
    batch.append(taking: element, dropped: 0)
    _ = finishDrain(deliverTaken(to: entry, keeping: nil), of: entry)
  }

  /// Finishes what a drain took.
  ///
  /// - Returns: whether to drain again.
  @discardableResult
  final func finishDrain(_ delivered: consuming Delivered, of entry: Entry) -> Bool {
    let drained = withLock { finishTaken(&delivered, for: entry) }
    if let effects = drained.effects { finish(effects) }
    delivered.destroyRest()  // Here, outside the lock.
    if drained.isExhausted { whenExhausted?(entry) }
    return drained.mustContinue
  }

  /// What became of the elements that a drain took.
  struct Delivered: ~Copyable {
    var count = 0
    /// Those that wait again, because the entry was blocked, or the drain has made its calls.
    var rest = ItemBuffer()

    mutating func destroyRest() { rest = ItemBuffer() }
  }

  /// Begins a drain of at most `share` elements. Inside `lock`.
  ///
  /// - Returns: the effects, if there may be any, and how many elements
  ///   ``deliverTaken(to:keeping:)`` will deliver.
  final func take(
    _ share: Int, for entry: Entry
  ) -> (effects: MailboxState.Effects?, count: Int) {
    recordBlock(of: entry)
    forgetSignal()
    // One signal at a time, because it may turn out to be incomplete.
    let effects = state.beginBatch(isFollowing ? 1 : min(share, state.limit), into: &batch)
    return (effects, batch.count)
  }

  /// Delivers what ``take(_:for:)`` took.
  ///
  /// - Parameter kept: an object that the caller keeps alive.
  final func deliverTaken(to entry: Entry, keeping kept: UnsafeRawPointer?) -> Delivered {
    var delivered = Delivered()
    var taken = ItemBuffer()
    swap(&taken, &batch)
    let (receiver, progress, head) = (receiver, progress, entry.head)
    progress?.begin()
    let timer = receiver == nil ? head.pointee.timer : nil
    var invocation = Invocation(ThreadCallStack.current)
    // SAFETY: the caller holds the entry, which keeps the receiver and the timer.
    delivered.count = invocation.drain(
      &taken, to: .passUnretained(entry), keeping: kept
    ) { element in
      if let receiver {
        receiver._withUnsafeGuaranteedRef { $0.receive(element, for: head) }
        return progress?.mayGoOn ?? true
      } else if let timer {
        timer._withUnsafeGuaranteedRef { timer in
          let began = timer.begin()
          element.call(head)
          timer.end(began)
        }
      } else {
        element.call(head)
      }
      return true
    }
    invocation.end()
    if let progress, progress.isIncomplete {
      // The element waits again, in its place: what waits for it, such as a flush, goes on waiting.
      delivered.count -= 1
      var rest = ItemBuffer()
      rest.append(MailboxState.Item(element: .rest, dropped: 0))
      taken.moveFirst(taken.count, to: &rest)
      swap(&taken, &rest)
    }
    if taken.isEmpty { swap(&taken, &batch) } else { swap(&taken, &delivered.rest) }
    return delivered
  }

  /// What follows a drain, outside the lock.
  struct Drained {
    /// Whether to drain again.
    var mustContinue: Bool
    /// Whether to run `whenExhausted`.
    var isExhausted: Bool
    /// The effects, if there may be any besides.
    var effects: MailboxState.Effects?
  }

  /// Ends a drain. Inside `lock`.
  ///
  /// What remains of `delivered` is to be destroyed outside the lock.
  final func finishTaken(_ delivered: inout Delivered, for entry: Entry) -> Drained {
    recordBlock(of: entry)
    state.putBack(&delivered.rest)
    return finishTaken(delivered: delivered.count)
  }

  /// Ends a drain. Inside `lock`.
  private func finishTaken(delivered: Int) -> Drained {
    let (mustContinue, effects) = state.endBatch(delivered: delivered)
    isAtEnd = state.isExhausted && !state.isBlocked
    return Drained(mustContinue: mustContinue, isExhausted: isAtEnd, effects: effects)
  }

  /// Whether an element waits, or an end that no drain has seen. Inside `lock`.
  final var hasWork: Bool {
    !state.isBlocked && (state.hasWaiting || (state.end != nil && !isAtEnd))
  }

  /// Whether both have the same limit and policy.
  final func hasLimits(of other: HandlerMailbox) -> Bool {
    // One after the other: never two locks at once.
    let ours = withLock { (state.limit, state.whenFull) }
    let theirs = other.withLock { (other.state.limit, other.state.whenFull) }
    return ours == theirs
  }

  /// Ends the registration of `entry`, for which nothing can be called any more.
  final func end(_ entry: Entry) {
    withLock { isDeserted = true }
    cancel(entry)
    whenExhausted?(entry)
  }

  /// Begins delivery, in a mailbox that was created busy.
  ///
  /// If it has ended and nothing waits, its consumer finds that out: what follows the last element
  /// runs where the handler is called.
  func start(_ entry: Entry) {
    let effects = withLock {
      var effects = state.finishTaken(delivered: 0)
      let isExhausted = state.isExhausted && !state.isBlocked
      isAtEnd = isExhausted
      if isExhausted { state.wake(&effects) }
      return effects
    }
    perform(effects, for: entry)
  }
}
