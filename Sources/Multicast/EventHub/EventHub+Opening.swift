extension EventHub {
  /// Adds a handler that the delivering thread calls, first with the event that opens each
  /// subscription.
  ///
  /// The handler may be called with later events before that one; it must ignore them. What
  /// measures the calls that it makes is in `origin`.
  ///
  /// - Returns: `nil` if the hub has finished; the handler was not called then, and will not be.
  @usableFromInline
  func subscribeInOrder(
    _ handler: @escaping @Sendable (Event) -> Void, owner: (any AnyObject & Sendable)?,
    origin: Origin
  ) -> EventSubscription? {
    kinds.add(SubscriberKinds.handler)
    let registration = registry.add(
      Subscriber(handler: handler, pipeline: nil), weakly: owner, mailbox: nil,
      origin: origin)
    guard let entry = registration.entry, sequencer?.open(entry, through: self) == true else {
      registration.cancel()
      return nil
    }
    return EventSubscription(registration)
  }

  /// Calls the handler of `entry` with its first event, unless it is blocked: then it gets that
  /// after the block.
  func open(_ entry: Entry, _ opening: EventOpening<Event>) {
    var invocation = Invocation(ThreadCallStack.current)
    _ = invocation.pass(.passUnretained(entry), access: .call) { (subscriber: Subscriber<Event>) in
      subscriber.handler(opening.firstEvent)
      return true
    }
    invocation.end()
  }
}
