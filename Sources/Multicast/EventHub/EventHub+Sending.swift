public import Synchronization

extension EventHub {
  /// Hands `event` to every subscriber.
  ///
  /// A handler without a queue is called here and now. For the others the event goes into their
  /// buffers. The subscribers are those that are there when this begins.
  ///
  /// The event is in every buffer before the first handler is called. So an event that a handler
  /// sends comes behind the one that it was called with, in every buffer. Handlers without a queue
  /// are called at once, also by such an inner send: those behind see the inner event first. With
  /// a total order, or a replay, they see it afterwards.
  ///
  /// - Returns: the number of subscribers that were called or have the event in their buffer. After
  ///   ``finish()``: 0, and the event is counted as refused. If the hub has one order (see
  ///   ``Ordering``) and another sender is delivering: the number of subscriptions; they get the
  ///   event after this has returned.
  /// - Complexity: O(subscribers). If anybody has a buffer, one allocation for all of them.
  @inlinable @discardableResult
  public func send(_ event: Event) -> Int {
    // Acquiring: whoever saw `finish` return sees it here.
    guard !finishing.isRaised.load(ordering: .acquiring) else { return refuse() }
    if let sequencer { return sequencer.send(event, through: self) }
    let delivered = deliver(event, 0)
    return delivered > 0 ? delivered : noteUndelivered()
  }

  /// Hands each of `events` to every subscriber, one after the other, as ``send(_:)`` does.
  ///
  /// - Complexity: O(events × subscribers).
  @inlinable
  public func send(contentsOf events: some Sequence<Event>) {
    for event in events { send(event) }
  }

  /// Hands `event` to every subscriber, and suspends while the buffer of one whose policy is
  /// `.suspend` is full.
  ///
  /// Every other subscriber gets the event at once. If the task is cancelled, the event is dropped
  /// for those that still have no room, and counted. After ``finish()`` it is refused and counted;
  /// a `finish` that comes while this waits delivers the event, beyond the limit of the buffer. A
  /// sender that always finds room lets other tasks run after at most 64 events.
  ///
  /// If the hub has one order (see ``Ordering``), events that are sent in the meantime may overtake
  /// this one in the buffers that were full; and if another sender is delivering, this waits until
  /// that one has delivered this event too, which cancellation does not end.
  ///
  /// - Returns: whether no subscriber missed the event because the hub was finished, or because the
  ///   task was cancelled before there was room. What a buffer drops by its own policy, and what a
  ///   subscription that has been cancelled discards, does not count.
  /// - Complexity: O(subscribers), and the wait.
  @discardableResult
  public func sendWaiting(_ event: Event) async -> Bool {
    await SendWaiterList.yieldAfterMany()
    // Acquiring: as in `send`.
    guard !finishing.isRaised.load(ordering: .acquiring) else {
      refuse()
      return false
    }
    let waiter = SendWaiterList()
    if let sequencer {
      sequencer.send(event, sender: waiter, through: self)
    } else {
      let delivered = deliver(event, 0, sender: waiter)
      waiter.delivered(isTaken: delivered > 0)
    }
    let outcome = await waiter.wait()
    // If the task is cancelled, buffers drop the event inside `Task.cancel()`, where no user code may
    // run: this is the last reference.
    withExtendedLifetime(event) {}
    if !outcome.isTaken && finishing.isRaised.load(ordering: .acquiring) {
      // The hub has finished since the check above.
      refuse()
      return false
    }
    return outcome.isComplete
  }

  /// No subscriber got an event. If the hub has finished since the sender checked, that is why: the
  /// event counts as refused.
  @usableFromInline @inline(never) @discardableResult
  func noteUndelivered() -> Int {
    // Sequentially consistent: `finish` raises the flag before it ends the first subscriber.
    finishing.isRaised.load(ordering: .sequentiallyConsistent) ? refuse() : 0
  }

  @usableFromInline @inline(never) @discardableResult
  func refuse() -> Int {
    // Relaxed: a number to be looked at.
    refused.wrappingAdd(1, ordering: .relaxed)
    return 0
  }

  /// Delivers the event with this number: to every buffer, and then to the handlers that the sender
  /// calls.
  ///
  /// In this order, because a handler may send: what it sends comes behind this event in every
  /// buffer.
  ///
  /// - Parameter sender: waits for room, if it can.
  /// - Returns: the number of subscribers that were called or have the event in their buffer.
  @inlinable @inline(__always)
  func deliver(_ event: Event, _ number: UInt64, sender: SendWaiterList? = nil) -> Int {
    var delivered = 0
    var reference: Envelope?
    // Subscribers of one kind need one pass.
    registry.forEachEntry(passes: kinds.hasBuffersAndHandlers ? 2 : 1) { invocation, entry, pass in
      // Of two passes, the second is for the handlers.
      if pass.count == 2, (entry.head.pointee.mailbox == nil) != (pass.index == 1) { return true }
      return invocation.pass(entry) { (subscriber: Subscriber<Event>) in
        if let pipeline = subscriber.pipeline {
          let accepted = pipeline.take(
            event, number, &reference, handler: subscriber.handler, for: entry, sender: sender)
          if accepted { delivered += 1 }
        } else {
          subscriber.handler(event)
          delivered += 1
        }
        return true
      }
    }
    return delivered
  }
}

extension EventPipeline {
  /// Takes an event that is on its way to the subscriber.
  ///
  /// - Parameters:
  ///   - reference: the event in its box, once somebody needed that.
  ///   - sender: who can wait for room.
  /// - Returns: whether the handler was called, or the event waits in the mailbox. For a sender that
  ///   can wait: also if the policy of the mailbox dropped it, or its subscription was cancelled.
  @inlinable
  func take(
    _ event: Event, _ number: UInt64, _ reference: inout Envelope?,
    handler: @Sendable (Event) -> Void, for entry: Unmanaged<Entry>, sender: SendWaiterList?
  ) -> Bool {
    guard admits(event, number) else { return false }
    guard let mailbox else {
      handler(event)
      return true
    }
    let boxed = reference ?? Envelope(event: event)
    reference = boxed
    // SAFETY: whoever delivers holds the entry.
    if let coalescer {
      return coalescer.enqueue(boxed, for: entry.takeUnretainedValue(), sender: sender)
    }
    guard let sender else { return mailbox.enqueue(boxed, for: entry) }
    return sender.append(boxed, to: mailbox, for: entry.takeUnretainedValue())
  }
}
