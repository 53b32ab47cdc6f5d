extension SubscriberOption {
  /// Calls `action` once when no more events follow, because the hub has finished or a full buffer
  /// has disconnected the subscriber. It is not called for a subscription that is cancelled, whose
  /// handle is released, or whose owner or actor is gone; nor if that happens after the end, before
  /// the place of a handler with a buffer has learned of it: events may still wait there. A flush
  /// does not wait for the action.
  ///
  /// ```swift
  /// hub.subscribe(options: [.onEnd { end, failure in print(end, failure as Any) }]) { print($0) }
  /// ```
  /// An action that belongs to an actor is called there, in a turn after that of the last event.
  /// The hub does not keep that actor alive, unless the action captures it. Any other is called
  /// where the handler is called, after the last event. For a handler that senders call, that is
  /// the thread that finishes the hub; a `send` that another thread began before may still be
  /// calling the handler. Of several of these options each action is called, in the order of the
  /// options.
  ///
  /// - Parameters:
  ///   - isolation: the actor that calls this function. Leave it out.
  ///   - action: called with the reason, and, if that is `finished`, with the error of
  ///     `finish(throwing:)`, if any.
  /// - Returns: the option.
  public static func onEnd(
    isolation: isolated (any Actor)? = #isolation,
    @_inheritActorContext _ action:
      @escaping @isolated(any) @Sendable (SubscriptionEnd, (any Error)?) -> Void
  ) -> Self {
    // SAFETY: a synchronous function with dynamic isolation is called like one without. It is
    // called on its actor, or anywhere if it has none.
    let unchecked = unsafeBitCast(action, to: SubscriptionRequest<Event>.EndAction.self)
    // Weak: the hub does not keep the actor alive. An action that uses its state does; any other
    // may then be called anywhere.
    let home = (action.isolation ?? isolation).map(WeakActor.init)
    return Self { request in
      let earlier = request.onEnd
      request.onEnd = { end, failure in
        earlier?(end, failure)
        guard let home = home?.value else { return unchecked(end, failure) }
        startTask(on: home, ActorWork { _ in unchecked(end, failure) })
      }
    }
  }
}
