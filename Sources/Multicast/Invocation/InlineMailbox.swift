/// The mailbox of a handler that senders call, in a hub whose events have one order.
///
/// A sender appends to the mailboxes of all subscribers first, and then serves the handlers. One
/// thread at a time serves a handler; a concurrent sender leaves its events to that thread. So a
/// handler gets events in order, one at a time, and a sender does not wait for other threads.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class InlineMailbox: HandlerMailbox, @unchecked Sendable {
  // Sendable: `role` is used only inside `lock`.

  /// The role of calling the handler. Taken at first, for ``start(_:)``.
  private var role = ExclusiveRole()

  /// The parameters are those of ``HandlerMailbox``.
  init(drops: DropCounter?, whenExhausted: (@Sendable (Entry) -> Void)?) {
    super.init(
      MailboxState(limit: .max, whenFull: .dropNewest, isIdle: false), drops: drops,
      whenExhausted: whenExhausted)
    _ = role.take()
  }

  /// Does nothing: the sender serves the handler when every mailbox has the event.
  override func wake(_ entry: Entry) {}

  override var isServed: Bool { true }

  /// Calls the handler with what waited while it was blocked, on this thread.
  override func resume(_ entry: Entry) { serve(entry) }

  /// Calls the handler with what waits, unless another thread has the role.
  func serve(_ entry: Entry) {
    let isOurs = withLock { hasWork && role.take() }
    if isOurs { start(entry) }
  }

  /// Calls the handler with what waits. Delivery begins with the first call.
  override func start(_ entry: Entry) {
    repeat { _ = drain(entry) } while withLock { role.keep(if: hasWork) }
  }
}

extension Entry {
  /// The mailbox of a handler that senders call.
  var inlineMailbox: InlineMailbox? {
    head.pointee.mailbox?.takeUnretainedValue() as? InlineMailbox
  }
}
