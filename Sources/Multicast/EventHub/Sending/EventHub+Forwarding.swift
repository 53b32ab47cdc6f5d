// The hub of a topic forwards each event to the subscribers of all topics: as a part of its
// delivery, so that these see the events of the topic in its order.

internal import Synchronization

/// The state of a hub that passes each event on.
@usableFromInline
class EventForwarder<Event: Sendable>: HubState, @unchecked Sendable {
  // Sendable: it adds nothing; the subclass says why its own state may be shared.

  /// Passes `event` on, at its place in the order of the hub.
  ///
  /// - Parameter waiters: where a sender that can wait finds the full buffers.
  /// - Returns: the number of subscribers that it reached.
  @usableFromInline
  func forward(_ event: Event, _ waiters: SendWaiterList?) -> Int { 0 }

  /// The keys that those to whom it passes events on have asked for.
  var keysCarriedFurther: CarriedKeySet? { nil }

  /// Delivers an event of the hub, specialised for its type; see ``EventHub/delivery``.
  var delivery: EventHub<Event>.Delivery? { nil }
}

extension EventHub {
  /// As ``send(_:)``, with forwarding. Also forwards an event that this hub refuses because it has
  /// finished: that was the end of the topic only.
  func sendForwarding(_ event: Event) -> Int {
    if let sequencer { return sequencer.send(event, through: self) }
    return deliverForwarding(event, 0, by: nil)
  }

  /// Delivers `event`, forwarded by the hub of a topic.
  ///
  /// - Parameter outer: the list of the sender, if it can wait; it then waits for the buffers of
  ///   this hub too.
  func send(_ event: Event, forwardedFrom outer: SendWaiterList?) -> Int {
    guard let outer, !state.isBlocked else { return send(event) }
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
    guard state.isOpen else { return forward() }
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
      delivered == 0 && state.isRaised.load(ordering: .sequentiallyConsistent)
    waiters.completeDelivery(isTaken: !isRefused)
  }

  /// As ``deliver(_:_:_:waiters:)``, with forwarding if this hub forwards.
  ///
  /// The event is forwarded after it is in every buffer of this hub, and before the handlers
  /// without a buffer are called. So an event that a handler sends, of either hub, follows this one
  /// in each buffer of both.
  ///
  /// - Parameters:
  ///   - envelope: the event in its envelope, if there is one.
  ///   - delivery: see ``delivery``; `nil`: that of the forwarder, or else
  ///     ``deliver(_:_:_:waiters:)``.
  func deliverForwarding(
    _ event: Event, _ number: UInt64, _ envelope: Envelope? = nil, waiters: SendWaiterList? = nil,
    by delivery: Delivery?
  ) -> Int {
    let forwarder = forwarder
    // Not `??`, which makes an object for each function that it passes on.
    if let delivery { return delivery(self, event, number, envelope, waiters, forwarder) }
    if let delivery = forwarder?.delivery {
      return delivery(self, event, number, envelope, waiters, forwarder)
    }
    guard let forwarder else { return deliver(event, number, envelope, waiters: waiters) }
    return deliver(event, number, envelope, waiters: waiters) { forwarder.forward(event, waiters) }
  }

  /// Delivers `event`, and runs `forward` once: after the event is in every buffer of this hub, and
  /// before the handlers without a buffer are called.
  ///
  /// - Returns: the number of subscribers that the event reached, and what `forward` returns.
  @inlinable
  func deliver(
    _ event: Event, _ number: UInt64, _ envelope: Envelope?, waiters: SendWaiterList?,
    forward: () -> Int
  ) -> Int {
    var isForwarded = false
    var delivered = 0
    var envelope = envelope
    // Subscribers of one kind need one pass.
    registry.forEachEntry(passes: kinds.passes) { invocation, entry, pass in
      let isHandler = entry.head.pointee.mailbox == nil
      if !isForwarded, pass.count == 1 ? isHandler : pass.index == 1 {
        isForwarded = true
        invocation.closeCall()
        delivered += forward()
      }
      // The second of two passes is for the handlers.
      if pass.count == 2, isHandler != (pass.index == 1) { return true }
      if isHandler, invocation.callAtOnce(entry, event) {
        delivered += 1
      } else {
        delivered += deliver(event, number, &envelope, waiters, to: entry, &invocation)
      }
      return true
    }
    // Without a handler: the event is in every buffer, and nothing is being called.
    if !isForwarded { delivered += forward() }
    return delivered
  }
}
