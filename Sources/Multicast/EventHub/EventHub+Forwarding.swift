// The hub of a topic forwards each event to the subscribers of all topics: as a part of its delivery,
// so that these see the events of the topic in its order.

internal import Synchronization

/// Passes an event on, and returns the number of subscribers that it reached. If the sender can
/// wait, the list is where it finds the full buffers.
@usableFromInline
typealias EventForwarding<Event> = @Sendable (Event, SendWaiterList?) -> Int

extension EventHub {
  /// As ``send(_:)``, with forwarding. Also forwards an event that this hub refuses because it has
  /// finished: that was the end of the topic only.
  func sendForwarding(_ event: Event) -> Int {
    if let sequencer { return sequencer.send(event, through: self) }
    return deliverForwarding(event, 0)
  }

  /// Delivers `event`, forwarded by the hub of a topic.
  ///
  /// - Parameter outer: the list of the sender, if it can wait; it then waits for the buffers of
  ///   this hub too.
  func send(_ event: Event, forwardedFrom outer: SendWaiterList?) -> Int {
    guard let outer, !finishing.isBlocked else { return send(event) }
    let waiters = SendWaiterList()
    outer.include(waiters)
    if let sequencer { return sequencer.send(event, waiters: waiters, through: self) }
    let delivered = deliver(event, 0, waiters: waiters)
    complete(waiters, delivered)
    return delivered
  }

  /// As ``send(_:forwardedFrom:)``, and runs `forward` once: after the event is in every buffer of
  /// this hub, and before the handlers without a buffer are called. In a hub with one order: when
  /// the event has its place in that, and before it is delivered.
  ///
  /// - Returns: the number of subscribers that the event reached, and what `forward` returns.
  func send(_ event: Event, forwardedFrom outer: SendWaiterList?, forward: () -> Int) -> Int {
    guard finishing.isOpen else { return forward() }
    let waiters = outer.map { _ in SendWaiterList() }
    if let waiters { outer?.include(waiters) }
    var forwarded = 0
    if let sequencer {
      let sent = sequencer.post(event, waiters, through: self) { forwarded = forward() }
      if sent == nil { waiters?.completeDelivery(isTaken: false) }
      return forwarded + (sent?.reached ?? 0)
    }
    guard let waiters else { return deliver(event, 0, nil, waiters: nil, forward: forward) }
    let delivered = deliver(event, 0, nil, waiters: waiters) {
      forwarded = forward()
      return forwarded
    }
    complete(waiters, delivered - forwarded)
    return delivered
  }

  /// Completes the delivery of an event that was forwarded to this hub.
  private func complete(_ waiters: SendWaiterList, _ delivered: Int) {
    // Sequentially consistent: as in `refuseIfFinished`.
    let isRefused =
      delivered == 0 && finishing.isRaised.load(ordering: .sequentiallyConsistent)
    waiters.completeDelivery(isTaken: !isRefused)
  }

  /// As ``deliver(_:_:_:waiters:)``, with forwarding if this hub forwards.
  ///
  /// The event is forwarded after it is in every buffer of this hub, and before the handlers
  /// without a buffer are called. So an event that a handler sends, of either hub, follows this one
  /// in each buffer of both.
  ///
  /// - Parameter envelope: the event in its envelope, if there is one.
  func deliverForwarding(
    _ event: Event, _ number: UInt64, _ envelope: Envelope? = nil, waiters: SendWaiterList? = nil
  ) -> Int {
    guard let forward else {
      guard let specializedDelivery else {
        return deliver(event, number, envelope, waiters: waiters)
      }
      return specializedDelivery(self, event, number, envelope, waiters)
    }
    return deliver(event, number, envelope, waiters: waiters) { forward(event, waiters) }
  }

  /// Delivers `event`, and runs `forward` once: after the event is in every buffer of this hub, and
  /// before the handlers without a buffer are called.
  ///
  /// - Returns: the number of subscribers that the event reached, and what `forward` returns.
  private func deliver(
    _ event: Event, _ number: UInt64, _ envelope: Envelope?, waiters: SendWaiterList?,
    forward: () -> Int
  ) -> Int {
    var isForwarded = false
    var delivered = 0
    var envelope = envelope
    registry.forEachEntry(passes: 2) { invocation, entry, pass in
      if pass.index == 1 && !isForwarded {
        isForwarded = true
        invocation.pause()
        delivered += forward()
      }
      if (entry.head.pointee.mailbox == nil) != (pass.index == 1) { return true }
      return invocation.pass(entry, access: .enqueue) { (subscriber: Subscriber<Event>) in
        if let pipeline = subscriber.pipeline {
          let isDelivered = pipeline.deliver(
            event, number, &envelope, handler: subscriber.handler, for: entry, waiters: waiters)
          if isDelivered { delivered += 1 }
        } else {
          subscriber.handler(event)
          delivered += 1
        }
        return true
      }
    }
    if !isForwarded { delivered += forward() }
    return delivered
  }
}

extension Invocation {
  /// Shows that no entry is being called, until the next one is.
  fileprivate func pause() {
    // Releasing: as in `end`.
    frame.pointee.store(nil, ordering: .releasing)
  }
}
