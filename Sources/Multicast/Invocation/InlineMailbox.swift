/// The mailbox of a handler that senders call, in a hub where events wait for their turn.
///
/// A sender appends to the buffers of all subscribers first, and then serves the handlers. One
/// thread at a time serves a handler; another one that comes leaves the rest to it. So the events
/// arrive one after the other and in order, and a sender waits for no handler of another thread.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class InlineMailbox: HandlerMailbox, @unchecked Sendable {
  // Sendable: `role` is touched inside `lock` alone.

  /// Calling the handler. Taken from the beginning, for ``start(_:)``.
  private var role = ExclusiveRole()

  /// - Parameters:
  ///   - drops: where to count what is lost, besides here.
  ///   - whenExhausted: runs when nothing more will come and everything was delivered.
  ///   - deliver: hands an element to an entry.
  init(
    drops: DropCounter?, whenExhausted: (@Sendable (Entry) -> Void)?,
    deliver: @escaping @Sendable (UnsafeMutablePointer<EntryHead>, Envelope) -> Void
  ) {
    super.init(
      MailboxState(limit: .max, whenFull: .dropNewest, isIdle: false), drops: drops,
      whenExhausted: whenExhausted, deliver: deliver)
    _ = role.take()
  }

  /// Does nothing: the sender serves the handler when the event is in every buffer.
  override func wake(_ entry: Entry) {}

  /// Calls the handler with what waits, unless another thread does, or will.
  func serve(_ entry: Entry) {
    let isOurs = lock.withLock { hasWork && role.take() }
    if isOurs { start(entry) }
  }

  /// Calls the handler with what waits. The first time, delivery waits for this.
  override func start(_ entry: Entry) {
    repeat { _ = drain(entry) } while lock.withLock { role.keep(if: hasWork) }
  }
}

extension Entry {
  /// The mailbox of a handler that senders call.
  var inlineMailbox: InlineMailbox? {
    head.pointee.mailbox?.takeUnretainedValue() as? InlineMailbox
  }
}
