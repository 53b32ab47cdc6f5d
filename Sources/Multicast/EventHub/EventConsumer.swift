internal import Synchronization

/// One iteration over the events of a hub; its end is the end of the subscription.
///
/// ## Thread safety
/// It belongs to the iterating task.
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
  func nextTaken() -> Parcel? {
    Task.isCancelled ? nil : mailbox.nextTaken()?.element
  }

  /// The next event.
  @usableFromInline
  func next() async -> Parcel? {
    await nextItem()?.element
  }

  /// The next event, and how many were lost before it. If the task is cancelled, the subscription
  /// is over.
  func nextItem() async -> StreamMailbox.Item? {
    while !Task.isCancelled {
      if let item = mailbox.nextTaken() { return item }
      if mailbox.takeMore() { continue }
      if mailbox.isExhausted {
        stop()
        return nil
      }
      await withTaskCancellationHandler {
        await mailbox.sleep()
      } onCancel: {
        // The runtime holds a lock of its own here: no user code may run. What is left to do, the
        // task does when it is awake.
        mailbox.interrupt()
      }
    }
    stop()
    return nil
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
