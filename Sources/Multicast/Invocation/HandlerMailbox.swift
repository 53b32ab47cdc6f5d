/// A mailbox whose consumer calls a delegate or a handler, on whichever thread it runs.
///
/// ## Thread safety
/// Every operation may be called from any thread, except ``drain(_:)``: that is for one thread at a
/// time, which subclasses see to.
class HandlerMailbox: Mailbox, @unchecked Sendable {
  // Sendable: `batch` is touched by the one thread that is draining, `isAtEnd` inside `lock`; the rest
  // never changes.

  /// How many elements a consumer delivers at once.
  static var share: Int { 64 }

  final let deliver: @Sendable (UnsafeMutablePointer<EntryHead>, Envelope) -> Void
  final let whenExhausted: (@Sendable (Entry) -> Void)?
  private var batch = RingBuffer<MailboxState.Item>()
  /// Whether the end was reached and `whenExhausted` has run, or is about to.
  private var isAtEnd = false

  /// - Parameters:
  ///   - state: what is to wait here.
  ///   - drops: where to count what is lost, besides here.
  ///   - whenExhausted: runs when nothing more will come and everything was delivered.
  ///   - deliver: hands an element to an entry.
  init(
    _ state: MailboxState, drops: DropCounter?, whenExhausted: (@Sendable (Entry) -> Void)?,
    deliver: @escaping @Sendable (UnsafeMutablePointer<EntryHead>, Envelope) -> Void
  ) {
    self.deliver = deliver
    self.whenExhausted = whenExhausted
    super.init(state, drops: drops)
  }

  /// There is nothing left to deliver, so the consumer is not woken: its queue might be suspended for
  /// long.
  final override func cancel(_ entry: Entry) {
    let (effects, discarded) = lock.withLock { state.close(.cancelled) }
    finish(effects)
    withExtendedLifetime(discarded) {}  // It dies here, outside the lock.
  }

  /// Delivers what waits, up to the share.
  ///
  /// - Returns: whether more is to be done.
  final func drain(_ entry: Entry) -> Bool {
    finish(lock.withLock { state.take(Self.share, into: &batch) })
    var delivered = 0
    var invocation = Invocation(ThreadCallStack.current)
    while let item = batch.popFirst() {
      invocation.pass(.passUnretained(entry), otherwise: ()) { head in
        deliver(head, item.element)
        delivered += 1
      }
    }
    invocation.end()
    let (effects, isExhausted) = lock.withLock { finishTaken(delivered: delivered) }
    finish(effects)
    if isExhausted { whenExhausted?(entry) }
    return effects.wake
  }

  /// The end of a share. Inside `lock`.
  ///
  /// - Returns: the effects, and whether `whenExhausted` is to run.
  private func finishTaken(delivered: Int) -> (MailboxState.Effects, isExhausted: Bool) {
    let effects = state.finishTaken(delivered: delivered)
    isAtEnd = state.isExhausted
    return (effects, isAtEnd)
  }

  /// Whether an element waits, or an end that nothing was told of. Inside `lock`.
  final var hasWork: Bool { state.hasWaiting || (state.end != nil && !isAtEnd) }

  /// Begins delivery, if that was to wait.
  func start(_ entry: Entry) {
    let (effects, isExhausted) = lock.withLock { finishTaken(delivered: 0) }
    perform(effects, for: entry)
    if isExhausted { whenExhausted?(entry) }
  }
}
