internal import Synchronization

extension EventHub {
  /// Delivers `event` to every subscriber that is registered when the call begins, or to none: if
  /// any of their buffers is so full that it would drop this event, make a sender wait for it, or
  /// disconnect its subscriber, no subscriber receives it, and the hub does not keep it for its
  /// replay.
  ///
  /// Buffers with `dropOldest`, `.latest` and `.coalescing` accept every event, and drop an older
  /// one. Filters are called once. While the call runs, the space that it has reserved counts as
  /// used: a concurrent plain `send` may find a buffer full because of it, and what the call has
  /// not used is free again when it returns. A subscription that begins during the call may receive
  /// the event, by its own policy, in a hub with one order (see ``Ordering``) only; one that ends
  /// in the meantime may not, and one that is blocked when the call asks its buffer does not.
  ///
  /// In a hub with one order, if another sender is delivering, this decides at once, and that
  /// sender delivers the event after the call has returned. The event that it is delivering, and
  /// those that wait for it, count as if each buffer still had to take them, unless `trySend` has
  /// reserved their space.
  ///
  /// ```swift
  /// guard hub.trySend(frame) else { return skip(frame) }
  /// ```
  ///
  /// - Parameter event: what subscribers receive.
  /// - Returns: whether the event was sent; `true` if there is no subscriber, and while the hub is
  ///   blocked. After ``finish()``: `false`, and the event counts as refused.
  /// - Complexity: O(subscribers), with allocations in proportion.
  public func trySend(_ event: Event) -> Bool {
    trySend(event, includesNew: false) { true }
  }

  /// As ``trySend(_:)``; calls `willSend` before the event is delivered, if it will be.
  ///
  /// - Parameters:
  ///   - includesNew: whether to deliver to subscriptions that begin during the call, too.
  ///   - willSend: returns whether to deliver the event after all.
  func trySend(_ event: Event, includesNew: Bool, willSend: () -> Bool) -> Bool {
    // Relaxed: as in `sendWaiting`.
    guard !state.isRaised.load(ordering: .relaxed) else {
      refuse()
      return false
    }
    guard !state.isBlocked else { return true }
    let plan = SendPlan()
    guard reserve(event, plan) else { return false }
    guard willSend() else {
      plan.release()
      return false
    }
    if let sequencer { return send(event, plan, by: sequencer) }
    if deliverPlanned(event, 0, nil, plan, includesNew: includesNew) > 0 { return true }
    // Sequentially consistent: as in `refuseIfFinished`.
    guard state.isRaised.load(ordering: .sequentiallyConsistent) else { return true }
    refuse()
    return false
  }

  /// Sends an event in the one order of the hub, as `plan` says.
  ///
  /// - Returns: whether it was sent.
  private func send(_ event: Event, _ plan: SendPlan, by sequencer: EventSequencer<Event>) -> Bool {
    if sequencer.send(event, plan, through: self) { return true }
    // As in `EventSequencer.send`: that was the end of the topic only.
    if let forwarder, forwarder.forward(event, nil) > 0 { return true }
    refuse()
    return false
  }

  /// As ``send(_:)``, for the hub of a topic, without forwarding: an earlier hub of the topic has
  /// forwarded the event.
  func sendUnforwarded(_ event: Event) {
    guard let sequencer else {
      send(event)
      return
    }
    _ = sequencer.send(event, SendPlan(isForwarded: false), through: self)
  }

  /// Reserves space for an event in the buffers of all subscribers whose filters accept it.
  ///
  /// - Parameter plan: a new one.
  /// - Returns: `false`, and nothing is reserved, if a buffer is full.
  private func reserve(_ event: Event, _ plan: SendPlan) -> Bool {
    var ahead = (count: 0, begun: 0)
    while true {
      if let sequencer { ahead = sequencer.eventsAhead }
      switch reserve(event, plan, beside: ahead.count) {
      case .reserved, .unneeded: return true
      case .full: return false
      case .claimed:
        // An event that was ahead may have come into the buffer before this checked the space.
        guard let sequencer, sequencer.eventsAhead != ahead else { return false }
      }
    }
  }

  /// As ``reserve(_:_:)``, once.
  ///
  /// - Parameter others: the number of events that were sent before and may not be in all buffers.
  /// - Returns: that of the last subscriber that was asked.
  private func reserve(
    _ event: Event, _ plan: SendPlan, beside others: Int
  ) -> MailboxState.Reservation {
    var last = MailboxState.Reservation.unneeded
    registry.forEachEntry { invocation, entry, _ in
      var isAsked = false
      let mayContinue = invocation.pass(entry, access: .enqueue) {
        (subscriber: Subscriber<Event>) in
        isAsked = true
        last = plan.add(entry, subscriber.pipeline, event, beside: others)
        return last.isSufficient
      }
      // A blocked one, which may be unblocked before the delivery: then its buffer was not asked.
      if !isAsked { plan.exclude(entry) }
      return mayContinue
    }
    if !last.isSufficient { plan.releaseSpace() }
    return last
  }

  /// Delivers the event with this number as `plan` says: to buffers, then to those to whom the hub
  /// forwards it, if it does, then to handlers.
  ///
  /// - Parameters:
  ///   - envelope: the event in its envelope, if the hub retains it.
  ///   - includesNew: whether to deliver to subscribers about which nothing is decided.
  /// - Returns: the number of subscribers that were called or have the event in their buffer.
  func deliverPlanned(
    _ event: Event, _ number: UInt64, _ envelope: Envelope?, _ plan: SendPlan, includesNew: Bool
  ) -> Int {
    let forwarder = plan.isForwarded ? forwarder : nil
    var isForwarded = false
    var delivered = 0
    var envelope = envelope
    registry.forEachEntry(passes: 2) { invocation, entry, pass in
      if pass.index == 1, !isForwarded {
        isForwarded = true
        invocation.closeCall()
        delivered += forwarder?.forward(event, nil) ?? 0
      }
      // The second pass is for the handlers.
      if (entry.head.pointee.mailbox == nil) != (pass.index == 1) { return true }
      return invocation.pass(entry, access: .enqueue) { (subscriber: Subscriber<Event>) in
        let decision = plan.take(entry)
        guard decision != .unwanted, decision != nil || includesNew else { return true }
        guard let pipeline = subscriber.pipeline else {
          subscriber.handler(event)
          delivered += 1
          return true
        }
        let isDelivered =
          decision == nil
          ? pipeline.deliver(
            event, number, &envelope, handler: subscriber.handler, for: entry, waiters: nil)
          : pipeline.deliverPlanned(
            event, &envelope, isReserved: decision == .reserved, handler: subscriber.handler,
            for: entry)
        if isDelivered { delivered += 1 }
        return true
      }
    }
    plan.release()
    if !isForwarded { delivered += forwarder?.forward(event, nil) ?? 0 }
    return delivered
  }
}

extension EventPipeline {
  /// Delivers an event that the subscriber wants.
  ///
  /// - Parameter isReserved: whether space is reserved in its mailbox.
  /// - Returns: whether the handler was called, or the event waits in the mailbox.
  fileprivate func deliverPlanned(
    _ event: Event, _ envelope: inout Envelope?, isReserved: Bool,
    handler: @Sendable (Event) -> Void, for entry: Unmanaged<Entry>
  ) -> Bool {
    guard let mailbox else {
      handler(event)
      return true
    }
    if mailbox.isFollowing { return mailbox.signal(for: entry) }
    let element = carriedEnvelope(event) ?? envelope ?? Envelope(event: event)
    if carried == nil { envelope = element }
    // SAFETY: the invocation of the caller holds the entry.
    let entry = entry.takeUnretainedValue()
    if let coalescer { return coalescer.enqueue(element, for: entry, waiters: nil) }
    let effects = mailbox.withLock {
      isReserved ? mailbox.state.commit(element) : mailbox.state.append(element)
    }
    mailbox.perform(effects, for: entry)
    return effects.isAccepted
  }
}
