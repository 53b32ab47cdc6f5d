public import Synchronization

extension EventHub {
  /// Hands `event` to every subscriber.
  ///
  /// A handler without a queue is called here and now. For the others the event goes into their
  /// buffers. The subscribers are those that are there when this begins.
  ///
  /// - Returns: how many subscribers were called or have the event in their buffer. After
  ///   ``finish()``: 0, and the event is counted as refused. If the order is total: how many
  ///   subscriptions there are, those among them that do not get it (their owner is gone, their
  ///   filter refuses it); if somebody else is delivering, they get the event after this has
  ///   returned.
  /// - Complexity: O(subscribers). If anybody has a buffer, one allocation for all of them.
  @inlinable @discardableResult
  public func send(_ event: Event) -> Int {
    // Acquiring: whoever saw `finish` return sees it here.
    guard !finishing.isRaised.load(ordering: .acquiring) else { return refuse() }
    if let sequencer { return sequencer.send(event, through: self) }
    return deliver(event, 0)
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
  /// for those that still have no room, and counted. After ``finish()`` it is refused and counted.
  ///
  /// If the order is total, events that are sent meanwhile may overtake this one in the buffers
  /// that were full; and if somebody else is delivering, this waits until they have delivered this
  /// one too, which cancellation does not end.
  ///
  /// - Complexity: O(subscribers), and the wait.
  public func sendWaiting(_ event: Event) async {
    // Acquiring: as in `send`.
    guard !finishing.isRaised.load(ordering: .acquiring) else {
      refuse()
      return
    }
    let waiter = SendWaiterList()
    if let sequencer {
      sequencer.send(event, waiters: waiter, through: self)
    } else {
      deliver(event, 0, waiters: waiter)
    }
    await waiter.wait()
    // If the task is cancelled, buffers drop the event inside `Task.cancel()`, where no user code may
    // run: this is the last reference.
    withExtendedLifetime(event) {}
  }

  @usableFromInline @inline(never) @discardableResult
  func refuse() -> Int {
    // Relaxed: a number to be looked at.
    refused.wrappingAdd(1, ordering: .relaxed)
    return 0
  }

  /// Delivers the event with this number.
  @inlinable @inline(__always)
  func deliver(_ event: Event, _ number: UInt64) -> Int {
    var delivered = 0
    var reference: Parcel?
    registry.visitEntries { visit, entry in
      visit.pass(entry) { (subscriber: Subscriber<Event>) in
        if let path = subscriber.path {
          let accepted = path.take(
            event, number, &reference, handler: subscriber.handler, for: entry, sender: nil)
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

  /// As `deliver(_:_:)`, for a sender that can wait.
  func deliver(_ event: Event, _ number: UInt64, waiters: SendWaiterList) {
    var reference: Parcel?
    registry.visitEntries { visit, entry in
      visit.pass(entry) { (subscriber: Subscriber<Event>) in
        if let path = subscriber.path {
          _ = path.take(
            event, number, &reference, handler: subscriber.handler, for: entry, sender: waiters)
        } else {
          subscriber.handler(event)
        }
        return true
      }
    }
    waiters.delivered()
  }
}

extension EventPath {
  /// Takes an event that is on its way to the subscriber.
  ///
  /// - Parameters:
  ///   - reference: the event in its box, once somebody needed that.
  ///   - sender: who can wait for room.
  /// - Returns: whether the handler was called, or the event waits in the mailbox.
  @inlinable
  func take(
    _ event: Event, _ number: UInt64, _ reference: inout Parcel?,
    handler: @Sendable (Event) -> Void, for entry: Unmanaged<Entry>, sender: SendWaiterList?
  ) -> Bool {
    guard admits(event, number) else { return false }
    guard let mailbox else {
      handler(event)
      return true
    }
    let boxed = reference ?? Parcel(event: event)
    reference = boxed
    // SAFETY: whoever delivers holds the entry.
    if let coalescer {
      coalescer.enqueue(boxed, for: entry.takeUnretainedValue())
      return true
    }
    guard let sender else { return mailbox.enqueue(boxed, for: entry) }
    sender.append(boxed, to: mailbox, for: entry.takeUnretainedValue())
    return true
  }
}
