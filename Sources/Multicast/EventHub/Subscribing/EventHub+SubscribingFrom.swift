public import Dispatch

// The overloads of `subscribe` for handlers that receive positions.

extension EventHub {
  /// Calls `handler` with the retained events after `start`, and with each event from then on, with
  /// their positions, on the actor to which the handler belongs; by senders if it belongs to none.
  ///
  /// Between what is retained and what is new there is neither a gap nor a duplicate. Where events
  /// that the subscriber should receive are no longer retained, it receives the range in their
  /// place.
  ///
  /// ```swift
  /// let subscription = chat.subscribe(from: .after(last)) { element in
  ///   switch element {
  ///   case .event(let message, at: let position): show(message, position)
  ///   case .missed(let range): showGap(range.count)
  ///   }
  /// }
  /// ```
  /// The subscriber has no buffer of its own: what waits for it is what the hub retains, and a slow
  /// one misses what leaves. While it is blocked it receives nothing, and afterwards goes on from
  /// there.
  ///
  /// - Parameters:
  ///   - start: where the subscription begins.
  ///   - filter: which events the subscriber receives; called where the handler is called.
  ///   - isolation: the actor that calls this function. Leave it out.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  ///   - handler: called with one element at a time. It may send, subscribe and cancel.
  /// - Returns: a handle; the subscription ends when the handle is destroyed. After ``finish()``:
  ///   the handler receives what is retained, and the subscription ends.
  /// - Precondition: the hub retains events.
  /// - Complexity: amortised O(1), and the calls if the handler belongs to no actor.
  public func subscribe(
    from start: SubscriptionStart, where filter: (@Sendable (Event) -> Bool)? = nil,
    isolation: isolated (any Actor)? = #isolation, label: String? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    @_inheritActorContext
    _ handler: @escaping @isolated(any) @Sendable (PositionedEvent<Event>) -> Void
  ) -> EventSubscription {
    follow(
      .isolated(handler, context: isolation), from: start, where: filter,
      origin: Origin(fileID, line, label))
  }

  /// As ``subscribe(from:where:isolation:label:fileID:line:_:)``; senders call the handler, one at
  /// a time. It is called with what is retained before this returns.
  ///
  /// - Parameters:
  ///   - start: where the subscription begins.
  ///   - sender: `.sender`. Code that belongs to no actor may leave it out.
  ///   - filter: which events the subscriber receives; called where the handler is called.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  ///   - handler: called with each element. It may send, subscribe and cancel.
  /// - Returns: a handle; the subscription ends when the handle is destroyed.
  /// - Precondition: the hub retains events.
  /// - Complexity: amortised O(1), and the calls.
  public func subscribe(
    from start: SubscriptionStart, on sender: SenderPlace,
    where filter: (@Sendable (Event) -> Bool)? = nil, label: String? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    _ handler: @escaping @Sendable (PositionedEvent<Event>) -> Void
  ) -> EventSubscription {
    follow(.sender(handler), from: start, where: filter, origin: Origin(fileID, line, label))
  }

  /// As ``subscribe(from:where:isolation:label:fileID:line:_:)``, on the main actor.
  ///
  /// - Parameters:
  ///   - start: where the subscription begins.
  ///   - main: `.main`.
  ///   - filter: which events the subscriber receives; called where the handler is called.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  ///   - handler: called with each element. It may send, subscribe and cancel.
  /// - Returns: a handle; the subscription ends when the handle is destroyed.
  /// - Precondition: the hub retains events.
  /// - Complexity: amortised O(1).
  public func subscribe(
    from start: SubscriptionStart, on main: MainActorPlace,
    where filter: (@Sendable (Event) -> Bool)? = nil, label: String? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    _ handler: @escaping @MainActor @Sendable (PositionedEvent<Event>) -> Void
  ) -> EventSubscription {
    follow(
      .isolated(handler, context: nil), from: start, where: filter,
      origin: Origin(fileID, line, label))
  }

  /// As ``subscribe(from:where:isolation:label:fileID:line:_:)``, on a queue: one element at a
  /// time, in order, even if the queue is concurrent.
  ///
  /// - Parameters:
  ///   - start: where the subscription begins.
  ///   - queue: the queue on which to call the handler.
  ///   - filter: which events the subscriber receives; called where the handler is called.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  ///   - handler: called with each element. It may send, subscribe and cancel.
  /// - Returns: a handle; the subscription ends when the handle is destroyed.
  /// - Precondition: the hub retains events.
  /// - Complexity: amortised O(1).
  @_disfavoredOverload
  public func subscribe(
    from start: SubscriptionStart, on queue: DispatchQueue,
    where filter: (@Sendable (Event) -> Bool)? = nil, label: String? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    _ handler: @escaping @Sendable (PositionedEvent<Event>) -> Void
  ) -> EventSubscription {
    follow(.queue(queue, handler), from: start, where: filter, origin: Origin(fileID, line, label))
  }

  /// As ``subscribe(from:where:isolation:label:fileID:line:_:)``, as long as `owner` lives, which
  /// the hub keeps alive only while it calls the handler: for at most 64 elements. The subscription
  /// ends with the owner, not with the handle.
  ///
  /// - Parameters:
  ///   - owner: the object with which the subscription ends.
  ///   - start: where the subscription begins.
  ///   - filter: which events the subscriber receives; called where the handler is called.
  ///   - isolation: the actor that calls this function. Leave it out.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  ///   - handler: called with the owner and each element. It should not capture the owner.
  /// - Returns: a handle to end the subscription earlier.
  /// - Precondition: the hub retains events.
  /// - Complexity: amortised O(1), and the calls if the handler belongs to no actor.
  @discardableResult
  public func subscribe<Owner: AnyObject & Sendable>(
    with owner: Owner, from start: SubscriptionStart,
    where filter: (@Sendable (Event) -> Bool)? = nil,
    isolation: isolated (any Actor)? = #isolation, label: String? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    @_inheritActorContext
    _ handler: @escaping @isolated(any) @Sendable (Owner, PositionedEvent<Event>) -> Void
  ) -> EventSubscription {
    follow(
      .isolated(handler, with: owner, context: isolation), from: start, where: filter,
      owner: owner, origin: Origin(fileID, line, label))
  }

  /// As ``subscribe(with:from:where:isolation:label:fileID:line:_:)``, on `owner`, an actor.
  ///
  /// - Parameters:
  ///   - owner: the actor on which to call the handler, and with which the subscription ends.
  ///   - start: where the subscription begins.
  ///   - filter: which events the subscriber receives; called where the handler is called.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  ///   - handler: called with the owner and each element. It should not capture the owner.
  /// - Returns: a handle to end the subscription earlier.
  /// - Precondition: the hub retains events.
  /// - Complexity: amortised O(1).
  @discardableResult
  public func subscribe<Owner: Actor>(
    with owner: Owner, from start: SubscriptionStart,
    where filter: (@Sendable (Event) -> Bool)? = nil, label: String? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    _ handler: @escaping @Sendable (isolated Owner, PositionedEvent<Event>) -> Void
  ) -> EventSubscription {
    follow(
      .actor(owner, handler), from: start, where: filter, owner: owner,
      origin: Origin(fileID, line, label))
  }
}
