internal import Synchronization

/// One iteration over the events of a hub; its end is the end of the subscription.
///
/// ## Thread safety
/// It belongs to the isolation that iterates: a task, or an actor, of which several tasks may await
/// the next event.
@usableFromInline
final class EventConsumer: Sendable {
  /// `nil` if the hub was gone already.
  private let registration: EntryHandle?
  let mailbox: StreamMailbox

  init(_ registration: EntryHandle?, _ mailbox: StreamMailbox) {
    self.registration = registration
    self.mailbox = mailbox
  }

  deinit {
    stop()
  }

  /// Ends the subscription. What was taken and not returned is discarded.
  private func stop() {
    registration?.cancel()
    mailbox.abandon()
  }

  /// The next event of those that were taken already, unless the task is cancelled.
  @usableFromInline
  func nextTaken() -> Envelope? {
    Task.isCancelled ? nil : mailbox.nextTaken()?.element
  }

  /// The next event.
  @usableFromInline
  func next() async -> Envelope? {
    while await prepareNext() {
      if let item = mailbox.nextTaken() { return item.element }
    }
    return nil
  }

  /// The next event, or how many were lost in front of it. The drops behind the last event come at
  /// the end.
  func nextNoted() async -> Noted? {
    while await prepareNext() {
      let dropped = mailbox.takeDropped()
      if dropped > 0 {
        mailbox.spendBudget()
        return .dropped(dropped)
      }
      if let item = mailbox.nextTaken() { return .event(item.element) }
    }
    let dropped = mailbox.takeDroppedAtEnd()
    return dropped > 0 ? .dropped(dropped) : nil
  }

  /// An event, or how many were lost.
  enum Noted {
    case event(Envelope)
    case dropped(Int)
  }

  /// Returns when an event was taken that can be returned, or nothing more is coming: all was
  /// returned, or a task that awaits the next event is cancelled, which ends the subscription.
  ///
  /// - Returns: whether an event was taken.
  private func prepareNext() async -> Bool {
    if !mailbox.hasBudget {
      // A consumer that always finds something, or the end, must not keep its thread or actor.
      await Task.yield()
      mailbox.renewBudget()
    } else if mailbox.begin() {
      // Neither must a task that takes a new iterator for each result.
      await SendWaiterList.yieldAfterMany()
    }
    while !Task.isCancelled {
      if mailbox.hasTaken || mailbox.takeMore() { return true }
      if mailbox.isExhausted { break }
      let mayGoOn = await withTaskCancellationHandler {
        await mailbox.sleep()
      } onCancel: {
        // The runtime holds a lock of its own here: no user code may run. What is left to do, the
        // task does when it is awake.
        mailbox.interrupt()
      }
      guard mayGoOn else { break }
    }
    stop()
    mailbox.spendBudget()
    return false
  }
}

/// Where the iterators of a sequence come from: the first gets the subscription that began with the
/// sequence.
///
/// ## Thread safety
/// ``take()`` may be called from any thread.
final class EventSource: Sendable {
  /// `nil` if the hub is gone: a sequence does not keep it.
  private let subscribe: @Sendable () -> EventConsumer?
  /// Retained, until somebody takes it.
  private let first: Atomic<Unmanaged<EventConsumer>?>

  init(_ subscribe: @escaping @Sendable () -> EventConsumer?) {
    self.subscribe = subscribe
    first = Atomic(subscribe().map(Unmanaged.passRetained))
  }

  deinit {
    _ = takeFirst()
  }

  func take() -> EventConsumer {
    takeFirst() ?? subscribe() ?? EventConsumer(nil, .finished())
  }

  private func takeFirst() -> EventConsumer? {
    // Acquiring: whoever takes it sees it as the sequence was made. One exchange finds it, so the
    // reference that `init` retained is consumed once.
    first.exchange(nil, ordering: .acquiring)?.takeRetainedValue()
  }
}
