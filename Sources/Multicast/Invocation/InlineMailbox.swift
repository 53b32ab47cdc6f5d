/// The mailbox of a handler that senders call, in a hub where events wait for their turn.
///
/// A sender appends to the buffers of all subscribers first, and then serves the handlers. One
/// thread at a time serves a handler; another one that comes leaves the rest to it. So the events
/// arrive one after the other and in order, and a sender waits for no handler of another thread.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class InlineMailbox: HandlerMailbox, @unchecked Sendable {
  // Sendable: `isServed` is touched inside `lock` alone.

  /// Whether a thread is serving the handler, or is going to by ``start(_:)``.
  private var isServed = true

  /// - Parameters:
  ///   - losses: where to count what is lost, besides here.
  ///   - whenExhausted: runs when nothing more will come and everything was delivered.
  ///   - deliver: hands an element to an entry.
  init(
    losses: LossCounter?, whenExhausted: (@Sendable (Entry) -> Void)?,
    deliver: @escaping @Sendable (UnsafeMutablePointer<EntryHead>, Parcel) -> Void
  ) {
    super.init(
      Backlog(limit: .max, whenFull: .dropNewest, isIdle: false), losses: losses,
      whenExhausted: whenExhausted, deliver: deliver)
  }

  /// Does nothing: the sender serves the handler when the event is in every buffer.
  override func wake(_ entry: Entry) {}

  /// Calls the handler with what waits, unless another thread does, or will.
  func serve(_ entry: Entry) {
    let isOurs = lock.withLock {
      guard !isServed, hasWork else { return false }
      isServed = true
      return true
    }
    if isOurs { start(entry) }
  }

  /// Calls the handler with what waits. The first time, delivery waits for this.
  override func start(_ entry: Entry) {
    repeat { _ = drain(entry) } while !end()
  }

  /// - Returns: whether nothing is left, and no thread serves the handler now.
  private func end() -> Bool {
    lock.withLock {
      isServed = hasWork
      return !isServed
    }
  }
}

extension Entry {
  /// The mailbox of a handler that senders call.
  var inlineMailbox: InlineMailbox? {
    head.pointee.mailbox?.takeUnretainedValue() as? InlineMailbox
  }
}
