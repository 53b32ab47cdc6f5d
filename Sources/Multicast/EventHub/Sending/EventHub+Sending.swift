public import CMulticast
public import Synchronization

extension EventHub {
  /// Delivers `event` to every subscriber that is registered when the call begins.
  ///
  /// The sender calls the handlers that have neither a queue nor an actor; for other subscribers it
  /// appends the event to their buffers. It fills every buffer before it calls the first handler,
  /// so in each buffer an event that a handler sends follows the event that the handler was called
  /// with. The handlers that senders call are called at once, also by such an inner send: the later
  /// handlers see the inner event first. With a total order, or a replay, they see it afterwards.
  ///
  /// It never waits: if a buffer with the policy `.suspend` is full, the event is dropped for that
  /// subscriber, counted in ``HubStatistics/droppedWithoutWaiting``, and reported once for the hub
  /// on standard error. Use ``sendWaiting(_:)`` for such subscribers.
  ///
  /// - Parameter event: what subscribers receive.
  /// - Returns: the number of subscribers that were called or have the event in their buffer. After
  ///   ``finish()``: 0, and the event counts as refused. In a hub with one order (see
  ///   ``Ordering``), if another sender is delivering: the number of subscriptions, including those
  ///   that will not receive the event; they receive it after the call has returned.
  /// - Complexity: O(subscribers). If any subscriber has a buffer, one allocation for all of them,
  ///   and none for an event of at most eight bytes without references.
  @inlinable @discardableResult
  public func send(_ event: Event) -> Int {
    guard state.isOpen else { return refuseUnlessBlocked() }
    if let sequencer { return sequencer.send(event, through: self) }
    let delivered = deliver(event, 0)
    return delivered > 0 ? delivered : refuseIfFinished()
  }

  /// Sends each of `events`, in order, as ``send(_:)`` does.
  ///
  /// - Parameter events: what subscribers receive.
  /// - Complexity: O(events × subscribers).
  @inlinable
  public func send(contentsOf events: some Sequence<Event>) {
    for event in events { send(event) }
  }

  /// Delivers `event` to every subscriber, and suspends while a buffer with the policy `.suspend`
  /// is full.
  ///
  /// All other subscribers receive the event at once. If the task is cancelled, the event is
  /// dropped for the buffers that are still full, and counted. After ``finish()`` it is refused and
  /// counted; a `finish` during the wait delivers it, beyond the limit of the buffer. A task whose
  /// sends never suspend yields after at most 64 of them.
  ///
  /// In a hub with one order (see ``Ordering``), events that are sent during the wait may overtake
  /// this one in the buffers that were full. If another sender is delivering, this call waits until
  /// that sender has delivered this event too; cancellation does not end that wait.
  ///
  /// - Parameter event: what subscribers receive.
  /// - Returns: `false` if a subscriber did not receive the event because the hub was finished, or
  ///   because the task was cancelled while a buffer was full. Events that a buffer drops by its
  ///   policy, or that a cancelled subscription discards, do not count; nor do subscribers that a
  ///   `finish` during the delivery has ended before the event came to them, unless earlier events
  ///   still waited in their buffers. If none has received it then, the result is `false`, and the
  ///   event counts as refused.
  /// - Complexity: O(subscribers), and the wait.
  @inlinable @discardableResult
  public func sendWaiting(_ event: Event) async -> Bool {
    await sendWaiting(event, by: Self.delivery)
  }

  /// - Parameters:
  ///   - delivery: see ``delivery`` and ``deliverForwarding(_:_:_:waiters:by:)``.
  ///   - isKept: whether the hub of topics has kept the event, which is sent then, also if this
  ///     topic has finished since.
  @usableFromInline
  func sendWaiting(_ event: Event, by delivery: Delivery?, isKept: Bool = false) async -> Bool {
    await Task.yieldAfterMany()
    // Relaxed: nothing is read because of it. A thread that knows that `finish` has returned reads
    // `true` all the same. The hub of a topic that has finished still forwards the event.
    guard isForwarding || !state.isRaised.load(ordering: .relaxed) else {
      refuse()
      return false
    }
    guard !state.isBlocked else { return true }
    let waiters = SendWaiterList()
    if let sequencer {
      sequencer.send(event, waiters: waiters, through: self)
    } else {
      let delivered = deliverForwarding(event, 0, waiters: waiters, by: delivery)
      waiters.completeDelivery(isTaken: delivered > 0)
    }
    let outcome = await waiters.wait(isKept: isKept)
    // If the task is cancelled, buffers drop the event inside `Task.cancel()`, where no user code
    // may run: this is the last reference.
    withExtendedLifetime(event) {}
    // Relaxed: a thread that finds a subscriber ended has acquired what `finish` did before.
    if !outcome.isTaken && !isKept && state.isRaised.load(ordering: .relaxed) {
      // The hub has finished since the check above.
      refuse()
      return false
    }
    return outcome.isComplete
  }

  /// Counts an event that no subscriber received as refused if the hub has finished since the
  /// sender checked.
  @usableFromInline @inline(never)
  func refuseIfFinished() -> Int {
    // Relaxed would be enough: `finish` raises the flag before it ends the first subscriber, and a
    // thread that finds a subscriber ended has acquired that. Sequentially consistent, because it
    // costs nothing here: only an event that reached no subscriber comes here.
    state.isRaised.load(ordering: .sequentiallyConsistent) ? refuse() : 0
  }

  /// Refuses an event because the hub has finished, or skips it because the hub is blocked.
  @usableFromInline @inline(never)
  func refuseUnlessBlocked() -> Int {
    // Relaxed: the load of the gate has acquired it, as `HubState.publish` says.
    state.isRaised.load(ordering: .relaxed) ? refuse() : 0
  }

  @usableFromInline @inline(never) @discardableResult
  func refuse() -> Int {
    dropCounter.refuse()
    return 0
  }

  /// Appends the event with this number to every buffer, and then calls the handlers without one.
  ///
  /// In this order because a handler may send: in every buffer its event then follows this one.
  ///
  /// - Parameters:
  ///   - envelope: the event in its envelope, if there is one.
  ///   - waiters: where a sender that can wait finds the full buffers.
  /// - Returns: the number of subscribers that were called or have the event in their buffer.
  @inlinable @inline(__always)
  func deliver(
    _ event: Event, _ number: UInt64, _ envelope: Envelope? = nil, waiters: SendWaiterList? = nil
  ) -> Int {
    if kinds.mayHaveBuffers { return deliverToBuffers(event, number, envelope, waiters: waiters) }
    var delivered = 0
    var envelope = envelope
    // Subscribers of one kind need one pass.
    registry.forEachEntry(passes: kinds.passes) { invocation, entry, pass in
      // The second of two passes is for the handlers. The hints keep a jump out of the usual way: a
      // processor predicts which handler is called by the latest jumps.
      if _slowPath(pass.count == 2), (entry.head.pointee.mailbox == nil) != (pass.index == 1) {
        return true
      }
      if _fastPath(invocation.callAtOnce(entry, event)) {
        delivered += 1
      } else {
        delivered += deliver(event, number, &envelope, waiters, to: entry, &invocation)
      }
      return true
    }
    return delivered
  }

  /// As ``deliver(_:_:_:waiters:)``, and appends to many buffers at once where it can.
  @inlinable
  func deliverToBuffers(
    _ event: Event, _ number: UInt64, _ envelope: Envelope?, waiters: SendWaiterList?
  ) -> Int {
    var delivered = 0
    var appends = EnvelopeAppends()
    appends.envelope = envelope
    registry.forEachEntry(passes: kinds.passes) { invocation, entry, pass in
      let mailbox = entry.head.pointee.mailbox
      if pass.count == 2, (mailbox == nil) != (pass.index == 1) { return true }
      // SAFETY: the invocation holds the entry, which owns its mailbox.
      if waiters == nil, let mailbox, mailbox._withUnsafeGuaranteedRef({ $0.isDirect }) {
        if appends.envelope == nil { appends.envelope = Envelope(event: event) }
        appends.add(to: mailbox, of: entry, &invocation)
        return true
      }
      if let mailbox, entry.isActiveAndSignalled(mailbox) {
        delivered += 1
        return true
      }
      appends.flush(invocation.thread)
      if mailbox == nil, invocation.callAtOnce(entry, event) {
        delivered += 1
      } else {
        delivered += deliver(event, number, &appends.envelope, waiters, to: entry, &invocation)
      }
      return true
    } atEnd: { invocation in
      appends.flush(invocation.thread)
    }
    return delivered + appends.delivered
  }

  /// Delivers an event to one subscriber, of any kind.
  ///
  /// - Returns: 1, or 0 if it was not delivered.
  @inlinable @inline(never)
  func deliver(
    _ event: Event, _ number: UInt64, _ envelope: inout Envelope?, _ waiters: SendWaiterList?,
    to entry: Unmanaged<Entry>, _ invocation: inout Invocation
  ) -> Int {
    invocation.pass(entry, access: .enqueue, otherwise: 0) { head in
      Entry.value(head, as: Subscriber<Event>.self).pointee.pass { subscriber in
        guard let pipeline = subscriber.unretainedPipeline else {
          subscriber.handler(event)
          return 1
        }
        // SAFETY: the entry, which the invocation holds, owns the pipeline.
        let isDelivered = pipeline._withUnsafeGuaranteedRef {
          $0.deliver(
            event, number, &envelope, handler: subscriber.handler, for: entry, waiters: waiters)
        }
        return isDelivered ? 1 : 0
      }
    }
  }
}

extension Unmanaged where Instance == Entry {
  /// Whether the entry may be called now.
  @inlinable
  var isCallable: Bool {
    // Acquiring: as in `Invocation.pass`.
    EntryHead.isCallable(head.pointee.state.load(ordering: .acquiring))
  }

  /// Whether the entry is active, has no owner, and its consumer has been told to read a log and
  /// has not begun to: then a new event in the log needs nothing more.
  @inlinable @inline(__always)
  func isActiveAndSignalled(_ mailbox: Unmanaged<Mailbox>) -> Bool {
    // Relaxed: nothing is called, so only the number of subscribers depends on it.
    // SAFETY: the invocation of the caller holds the entry, which owns its mailbox.
    mailbox._withUnsafeGuaranteedRef { $0.isFollowing && $0.isSignalled }
      && head.pointee.state.load(ordering: .relaxed) == EntryHead.activeStrong
  }
}

extension Invocation {
  /// Calls the handler of `entry` if the entry is active, has no owner, and nothing stands between
  /// the sender and the handler. Otherwise does nothing.
  ///
  /// - Returns: whether it was called.
  @inlinable @inline(__always)
  func callAtOnce<Event: Sendable>(_ entry: Unmanaged<Entry>, _ event: Event) -> Bool {
    let head = entry.head
    // The same as in `pass`, with the same orders.
    frame.pointee.store(UnsafeRawPointer(entry.toOpaque()), ordering: .releasing)
    cmulticast_barrier_light(lightBarrierIsFence)
    guard head.pointee.state.load(ordering: .acquiring) == EntryHead.activeStrong else {
      return false
    }
    return Entry.value(head, as: Subscriber<Event>.self).pointee.pass { subscriber in
      if let pipeline = subscriber.unretainedPipeline {
        // SAFETY: the entry, which the invocation holds, owns the pipeline.
        guard pipeline._withUnsafeGuaranteedRef({ $0.isDirect }) else { return false }
      }
      subscriber.handler(event)
      return true
    }
  }
}

extension EventPipeline {
  /// Delivers an event to the subscriber, unless its filter or its starting point excludes it.
  ///
  /// - Parameters:
  ///   - envelope: the event in its envelope, which the first mailbox that needs it creates.
  ///   - waiters: where a sender that can wait finds the full buffers.
  /// - Returns: whether the handler was called, or the event waits in the mailbox. For a sender
  ///   that can wait: `false` only if the subscriber excludes it, or the hub has finished.
  @inlinable
  func deliver(
    _ event: Event, _ number: UInt64, _ envelope: inout Envelope?,
    handler: @Sendable (Event) -> Void, for entry: Unmanaged<Entry>, waiters: SendWaiterList?
  ) -> Bool {
    guard includes(event, number) else { return false }
    if start != nil { passStart() }
    guard let mailbox else {
      // The filter may have ended or blocked the subscription.
      guard filter == nil || entry.isCallable else { return false }
      handler(event)
      return true
    }
    if mailbox.isFollowing { return mailbox.signal(for: entry) }
    let element: Envelope
    if carried != nil, let own = carriedEnvelope(event) {
      element = own
    } else {
      element = envelope ?? makeEnvelope(event, &envelope)
    }
    // SAFETY: the invocation of the caller holds the entry.
    if let coalescer {
      return coalescer.enqueue(element, for: entry.takeUnretainedValue(), waiters: waiters)
    }
    guard let waiters else { return mailbox.enqueue(element, for: entry) }
    return waiters.append(element, to: mailbox, for: entry.takeUnretainedValue())
  }

  /// Puts the event into an envelope, for this mailbox and the next ones.
  @inlinable @inline(__always)
  func makeEnvelope(_ event: Event, _ shared: inout Envelope?) -> Envelope {
    let envelope = Envelope(event: event)
    shared = envelope
    return envelope
  }
}
