/// The mailbox of a registration that is called on an actor, by a synchronous function.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class ActorMailbox: HandlerMailbox, @unchecked Sendable {
  // Sendable: adds only a constant.

  let runQueue: ActorRunQueue

  /// The other parameters are those of ``QueueMailbox``.
  ///
  /// - Parameter home: the actor on which to call the delegate or the handler; not kept alive.
  init(
    on home: any Actor, limit: Int, whenFull: OverflowPolicy,
    isIdle: Bool = true, drops: DropCounter? = nil,
    whenExhausted: (@Sendable (Entry) -> Void)? = nil
  ) {
    let runQueue = ActorRunQueue.runQueue(of: home)
    self.runQueue = runQueue
    super.init(
      MailboxState(limit: limit, whenFull: whenFull, isIdle: isIdle),
      drops: drops, runQueue: runQueue, whenExhausted: whenExhausted)
  }

  private init(renewing other: ActorMailbox, limit: Int, whenFull: OverflowPolicy) {
    runQueue = other.runQueue
    super.init(
      MailboxState(limit: limit, whenFull: whenFull, isIdle: true),
      drops: other.drops, runQueue: runQueue, whenExhausted: other.whenExhausted)
  }

  override var place: String { "actor \(runQueue.description)" }

  override func renewed() -> Mailbox? {
    let (limit, whenFull) = withLock { (state.limit, state.whenFull) }
    return ActorMailbox(renewing: self, limit: limit, whenFull: whenFull)
  }

  override func hasTerms(of other: Mailbox) -> Bool {
    guard let other = other as? ActorMailbox, runQueue === other.runQueue else { return false }
    return hasLimits(of: other)
  }

  override func wake(_ entry: Entry) {
    runQueue.drain(self, entry)
  }

  /// Whether it delivers on `home`.
  func isOn(_ home: any Actor) -> Bool { runQueue.isOf(home) }

  override func requireInlineCall(of delegate: @autoclosure () -> Any.Type) {
    require(
      isOn(MainActor.shared) && MainQueue.isCurrent,
      """
      Multicast: \(delegate()) was added on \(runQueue.description), but is called directly. \
      Use invoke, which calls it there.
      """)
  }
}
