/// One iteration over the events of a hub. Its end is the end of the subscription.
///
/// ## Thread safety
/// For the isolation that iterates only: a task, or an actor, of which several tasks may await the
/// next event.
@usableFromInline
final class EventConsumer: Sendable {
  /// `nil` if the hub no longer existed, or if `reader` ends the subscription.
  private let registration: EntryHandle?
  let mailbox: StreamMailbox
  /// How the hub has finished, if it has.
  private let completion: Completion
  /// What the iterator reads when an event tells it to; `nil` if it returns the events themselves.
  let reader: (any ReadsAhead)?

  init(
    _ registration: EntryHandle?, _ mailbox: StreamMailbox, _ completion: Completion,
    reader: (any ReadsAhead)? = nil
  ) {
    self.registration = registration
    self.mailbox = mailbox
    self.completion = completion
    self.reader = reader
  }

  deinit {
    stop()
  }

  /// Ends the subscription, and discards what was taken and not returned.
  func stop() {
    registration?.cancel()
    reader?.stopReading()
    mailbox.discardTaken()
  }

  /// The error with which the hub has finished, if every event was returned.
  var failure: (any Error)? {
    mailbox.wasExhausted && mailbox.end == .finished ? completion.failure : nil
  }

  /// The next event of those taken already, unless the task or the subscription is cancelled.
  @usableFromInline
  func nextTaken() -> Envelope? {
    guard mailbox.hasTaken, !isCancelled else { return nil }
    return mailbox.nextTaken()?.element
  }

  /// Whether the current task or the subscription is cancelled: then nothing more is returned.
  var isCancelled: Bool { TaskIdentity.isCurrentCancelled || mailbox.isCancelled }

  /// The next event.
  @usableFromInline
  func next() async -> Envelope? {
    while await prepareNext() {
      if let item = mailbox.nextTaken() { return item.element }
    }
    return nil
  }

  /// Waits for an event that tells the iterator to read, and reads.
  ///
  /// - Parameter share: the most events to read.
  /// - Returns: whether there may be something to return, or to read up to the goal; `false`: the
  ///   iteration has ended.
  func nextSignal(_ share: Int) async -> Bool {
    while await prepareNext() {
      if mailbox.nextTaken() != nil {
        // Here, before this task may leave its actor: another one sees that there is more. Also if
        // that has read, because the signal may be of a later event.
        reader?.beginSignal(atMost: share)
        return true
      }
      if reader?.mustContinue == true { return true }
    }
    return false
  }

  enum Element {
    case event(Envelope)
    /// The number of events dropped at this point.
    case dropped(Int)
  }

  /// The next event, or the number of events dropped before it. At the end: the number dropped
  /// after the last event.
  func nextElement() async -> Element? {
    while await prepareNext() {
      let dropped = mailbox.takeDropped()
      if dropped > 0 {
        mailbox.spendBudget()
        return .dropped(dropped)
      }
      if let item = mailbox.nextTaken() { return .event(item.element) }
    }
    return takeDroppedAtEnd().map(Element.dropped)
  }

  /// The number of events dropped after the last one, at the end; `nil` if there are none, it was
  /// returned before, or a cancellation has ended the iteration.
  func takeDroppedAtEnd() -> Int? {
    guard mailbox.wasExhausted else { return nil }
    let dropped = mailbox.takeDroppedAtEnd()
    return dropped > 0 ? dropped : nil
  }

  /// The next event if there is one, without suspending.
  func nextIfAvailable() -> Envelope? {
    guard !isCancelled else {
      mailbox.recordCancellation(isOfTask: true)
      stop()
      return nil
    }
    switch mailbox.hasTaken ? .events : mailbox.takeMore() {
    case .events:
      mailbox.renewBudget()  // The caller is not to be suspended, not even for others.
      ThreadCallStack.first.pointee.hasReceived = true
      return mailbox.nextTaken()?.element
    case .nothing: return nil
    case .end:
      stop()
      return nil
    }
  }

  /// Waits for events and takes what waits, up to `limit`.
  ///
  /// - Returns: whether there were any; `false`: the iteration has ended. Another task of the same
  ///   actor may move them first.
  @usableFromInline
  func prepareBatch(_ limit: Int) async -> Bool {
    await prepareNext(upTo: limit)
  }

  /// The number of events that were taken and not returned.
  @usableFromInline
  var takenCount: Int { mailbox.takenCount }

  /// Moves all events that were taken out, in order.
  ///
  /// - Parameters:
  ///   - drops: called before an event with the number of events dropped before it, if there are
  ///     any.
  ///   - events: called with each event and its offset.
  @usableFromInline
  func moveTaken(drops: (Int) -> Void = { _ in }, events: (Envelope, Int) -> Void) {
    mailbox.moveTaken(drops, events)
  }

  enum TimedResult {
    case event(Envelope)
    case timedOut
    case ended
  }

  /// The next event, unless none comes within `timeout`.
  func next(timeout: Duration) async -> TimedResult {
    guard let timeout = timeout.asTimeout else {
      return await next().map(TimedResult.event) ?? .ended
    }
    let timer = SleepTimer(timeout, mailbox)
    defer { timer.cancel() }
    while await prepareNext(timer) {
      if let item = mailbox.nextTaken() { return .event(item.element) }
    }
    return timer.hasEndedWait ? .timedOut : .ended
  }

  /// Waits until an event was taken, or no more will come: all were returned, or a task that awaits
  /// the next event is cancelled, which ends the subscription.
  ///
  /// - Parameters:
  ///   - timer: ends the wait, and not the subscription, when its time is over.
  ///   - limit: the most events to take at once; `nil`: as many as the buffer allows.
  ///   - isolation: that of the caller.
  /// - Returns: whether an event was taken. Another task of the same actor may return it first.
  private func prepareNext(
    _ timer: SleepTimer? = nil, upTo limit: Int? = nil,
    isolation: isolated (any Actor)? = #isolation
  ) async -> Bool {
    if !mailbox.hasBudget {
      // A consumer that always finds an event, or the end, must not monopolise its thread or actor.
      await Task.yield()
      mailbox.renewBudget()
    } else if mailbox.isFirstRequest() {
      // Nor must a task that makes a new iterator for each result.
      await Task.yieldAfterMany()
    }
    loop: while !isCancelled {
      switch mailbox.hasTaken ? .events : mailbox.takeMore(limit) {
      case .events: return true
      case .nothing: if reader?.mustContinue == true { return true }
      case .end: break loop
      }
      if timer == nil, mailbox.takeLinger() {
        await Task.yield()
        mailbox.renewBudget()
        continue
      }
      await withTaskCancellationHandler {
        // The capture keeps the closure on the actor: without it the task would leave the actor
        // here.
        _ = isolation
        await mailbox.sleep(timer) { reader?.mustContinue == true }
      } onCancel: {
        // The runtime holds a lock of its own here, so no user code may run. The resumed task does
        // the rest.
        mailbox.interrupt()
      }
      if let timer, mailbox.isIdle(after: timer) {
        timer.hasEndedWait = true
        mailbox.spendBudget()  // A wait of no time has not suspended.
        return false
      }
    }
    // What was dropped after the last event is not reported to another task either.
    if isCancelled { mailbox.recordCancellation(isOfTask: true) }
    // A reader may have more after the end of the hub: `prepareRead` stops when it finds nothing.
    if reader == nil || isCancelled || mailbox.end != .finished { stop() }
    mailbox.spendBudget()
    return false
  }
}
