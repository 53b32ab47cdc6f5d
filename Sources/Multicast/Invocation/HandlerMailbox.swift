/// A mailbox whose consumer calls a delegate or a handler, on the thread that drains it.
///
/// ## Thread safety
/// Every operation may be called from any thread, except ``drain(_:)``: subclasses call it on one
/// thread at a time.
class HandlerMailbox: Mailbox, @unchecked Sendable {
  // Sendable: `batch` is used only by the draining thread, `isAtEnd` only inside `lock`; the rest
  // never changes.

  /// The largest number of elements that one drain delivers.
  static var share: Int { 64 }

  /// Returns the function that passes elements to an entry. A drain calls it once, because looking
  /// up the types of an entry costs more than a delivery.
  typealias Delivery = @Sendable (UnsafeMutablePointer<EntryHead>) -> (Envelope) -> Void

  final let deliver: Delivery
  final let whenExhausted: (@Sendable (Entry) -> Void)?
  private var batch = RingBuffer<MailboxState.Item>()
  /// Whether the mailbox was exhausted after a drain: `whenExhausted` has run, or is about to.
  private var isAtEnd = false

  /// - Parameters:
  ///   - state: the initial state, with limit and policy.
  ///   - drops: counts the drops of the whole hub.
  ///   - whenExhausted: runs when everything was delivered and no more elements will follow.
  ///   - deliver: see ``Delivery``.
  init(
    _ state: MailboxState, drops: DropCounter?, whenExhausted: (@Sendable (Entry) -> Void)?,
    deliver: @escaping Delivery
  ) {
    self.deliver = deliver
    self.whenExhausted = whenExhausted
    super.init(state, drops: drops)
  }

  /// Does not wake the consumer, because nothing is left to deliver and its queue might be suspended
  /// for long.
  final override func cancel(_ entry: Entry) {
    let (effects, discarded) = lock.withLock { state.close(.cancelled) }
    finish(effects)
    withExtendedLifetime(discarded) {}  // Destroyed here, outside the lock.
  }

  /// Delivers what waits, up to the share.
  ///
  /// - Returns: whether to drain again.
  final func drain(_ entry: Entry) -> Bool {
    var budget = Self.share
    return drain(entry, budget: &budget)
  }

  /// Delivers what waits, up to `budget`, from which it subtracts what it took.
  ///
  /// - Returns: whether to drain again.
  final func drain(_ entry: Entry, budget: inout Int) -> Bool {
    finish(
      lock.withLock {
        state.isBlocked = entry.isBlocked
        return state.take(budget, into: &batch)
      })
    budget -= batch.count
    var delivered = 0
    var kept = RingBuffer<MailboxState.Item>()
    let deliverOne = deliver(entry.head)
    var invocation = Invocation(ThreadCallStack.current)
    while let item = batch.popFirst() {
      if entry.isBlocked {
        kept.append(item)
        while let next = batch.popFirst() { kept.append(next) }
        break
      }
      invocation.passForMailbox(.passUnretained(entry)) { _ in
        deliverOne(item.element)
        delivered += 1
      }
    }
    invocation.end()
    let (effects, isExhausted) = lock.withLock {
      state.isBlocked = entry.isBlocked
      state.putBack(&kept)
      return finishTaken(delivered: delivered)
    }
    finish(effects)
    withExtendedLifetime(kept) {}  // Destroyed here, outside the lock.
    if isExhausted { whenExhausted?(entry) }
    return effects.wake
  }

  /// Ends a drain. Inside `lock`.
  ///
  /// - Returns: the effects, and whether to run `whenExhausted`.
  private func finishTaken(delivered: Int) -> (MailboxState.Effects, isExhausted: Bool) {
    let effects = state.finishTaken(delivered: delivered)
    isAtEnd = state.isExhausted && !state.isBlocked
    return (effects, isAtEnd)
  }

  /// Whether an element waits, or an end that no drain has seen. Inside `lock`.
  final var hasWork: Bool {
    !state.isBlocked && (state.hasWaiting || (state.end != nil && !isAtEnd))
  }

  /// Whether both have the same limit and policy.
  final func hasLimits(of other: HandlerMailbox) -> Bool {
    // One after the other: never two locks at once.
    let ours = lock.withLock { (state.limit, state.whenFull) }
    let theirs = other.lock.withLock { (other.state.limit, other.state.whenFull) }
    return ours == theirs
  }

  /// Ends the registration of `entry`, for which nothing can be called any more.
  final func end(_ entry: Entry) {
    cancel(entry)
    whenExhausted?(entry)
  }

  /// Begins delivery, in a mailbox that was created busy.
  func start(_ entry: Entry) {
    let (effects, isExhausted) = lock.withLock { finishTaken(delivered: 0) }
    perform(effects, for: entry)
    if isExhausted { whenExhausted?(entry) }
  }
}
