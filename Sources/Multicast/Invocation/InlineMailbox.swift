/// The mailbox of a handler that senders call, in a hub whose events have one order.
///
/// A sender appends to the mailboxes of all subscribers first, and then serves the handlers. One
/// thread at a time serves a handler; a concurrent sender leaves its events to that thread. So a
/// handler gets events in order, one at a time, and a sender does not wait for other threads.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class InlineMailbox: HandlerMailbox, @unchecked Sendable {
  // Sendable: `role` is used only inside `withLock`.

  /// The role of calling the handler. Taken at first, for ``start(_:)``.
  // Unchecked, as `state`.
  @exclusivity(unchecked) private var role = ExclusiveRole()

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

  /// As ``serve(_:)``, inside an invocation that passes `entry`. If one event waits, which is the
  /// usual case, the handler gets it without a drain.
  func serve(_ entry: Unmanaged<Entry>, _ invocation: borrowing Invocation) {
    guard let receiver, let element = takeOnly() else {
      invocation.closeCall()
      // SAFETY: the invocation holds the entry.
      return serve(entry.takeUnretainedValue())
    }
    let isDelivered = invocation.passOnly(entry) { head in
      // SAFETY: the invocation holds the entry, which owns the receiver.
      receiver._withUnsafeGuaranteedRef { $0.receive(element, for: head) }
    }
    if isDelivered {
      element.release()
      if finishOnly() { return }
    }
    invocation.closeCall()
    serveOn(entry.takeUnretainedValue(), after: isDelivered ? nil : element)
  }

  /// Finishes the element that was taken, unless `element` is to be delivered first, and delivers
  /// what waits.
  @inline(never)
  private func serveOn(_ entry: Entry, after element: EnvelopeReference?) {
    if let element { drain(entry, element) } else { finishDrain(Delivered(count: 1), of: entry) }
    serveOn(entry)
  }

  /// Takes the element that waits, and the role, if it is the only one.
  private func takeOnly() -> EnvelopeReference? {
    // A signal may turn out to be incomplete.
    guard !isFollowing else { return nil }
    return withLock {
      guard !role.isTaken, let element = state.takeOnly() else { return nil }
      _ = role.take()
      return element
    }
  }

  /// Finishes the element that waited, and gives up the role, if nothing is left to be done.
  private func finishOnly() -> Bool {
    withLock {
      let isDone = state.finishOnly()
      if isDone { _ = role.keep(if: false) }
      return isDone
    }
  }

  /// Calls the handler with what waits. The caller has the role.
  private func serveOn(_ entry: Entry) {
    while withLock({ role.keep(if: hasWork) }) { _ = drain(entry) }
  }

  /// Calls the handler with what waits. Delivery begins with the first call.
  override func start(_ entry: Entry) {
    _ = drain(entry)
    serveOn(entry)
  }
}

extension Unmanaged where Instance == Entry {
  /// The mailbox of a handler that senders call.
  var inlineMailbox: Unmanaged<InlineMailbox>? {
    guard let mailbox = head.pointee.mailbox, mailbox._withUnsafeGuaranteedRef({ $0.isServed })
    else { return nil }
    // SAFETY: no other mailbox is served.
    return .fromOpaque(mailbox.toOpaque())
  }
}
