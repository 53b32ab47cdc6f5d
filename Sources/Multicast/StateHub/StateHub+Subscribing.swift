public import Dispatch

// One overload of `subscribe` for each place where a handler can be called, as for `EventHub`.

extension StateHub {
  /// Calls `handler` with a snapshot of the state, and then with each update, on the actor to which
  /// the handler belongs; by the thread that applies if it belongs to none.
  ///
  /// The handler belongs to the actor on which you write it: see <doc:Isolation>. A burst of
  /// changes wakes the actor once. A handler that belongs to no actor is called as with `on:
  /// .sender`.
  ///
  /// - Parameters:
  ///   - limit: how many changes may wait for the handler; before its first call the beginning of
  ///     the subscription is one of them. If more would, the oldest are dropped, and the handler
  ///     gets a snapshot in their place. Changes that wait for a handler without an actor are not
  ///     limited.
  ///   - isolation: the actor that calls this function. Leave it out.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  ///   - handler: called with one update at a time. It may apply, subscribe and cancel.
  /// - Returns: a handle; the subscription ends when the handle is destroyed. After ``finish()``:
  ///   the handler receives a snapshot, and the subscription ends.
  /// - Precondition: `limit` is at least 1.
  /// - Complexity: amortised O(1).
  @inlinable
  public func subscribe(
    keepingUpTo limit: Int = .max, isolation: isolated (any Actor)? = #isolation,
    label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    @_inheritActorContext
    _ handler: @escaping @isolated(any) @Sendable (StateUpdate<State, Change>) -> Void
  ) -> EventSubscription {
    subscribe(.isolated(handler, context: isolation), limit, origin: Origin(fileID, line, label))
  }

  /// Calls `handler` with a snapshot of the state, and then with each update, on the thread that
  /// applies.
  ///
  /// One thread at a time calls it; that thread also delivers what others apply in the meantime.
  /// The snapshot comes before this returns, unless another thread is delivering, or this is called
  /// inside a handler: then the snapshot is left to that delivery.
  ///
  /// - Parameters:
  ///   - sender: `.sender`. Code that belongs to no actor may leave it out.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  ///   - handler: called with each update. It may apply, subscribe and cancel.
  /// - Returns: a handle; the subscription ends when the handle is destroyed.
  /// - Complexity: amortised O(1).
  @inlinable
  public func subscribe(
    on sender: SenderPlace, label: String? = nil, fileID: StaticString = #fileID,
    line: UInt = #line, _ handler: @escaping @Sendable (StateUpdate<State, Change>) -> Void
  ) -> EventSubscription {
    subscribe(.sender(handler), .max, origin: Origin(fileID, line, label))
  }

  /// Calls `handler` with a snapshot of the state, and then with each update, on the main actor.
  ///
  /// - Parameters:
  ///   - main: `.main`.
  ///   - limit: how many changes may wait; see
  ///     ``subscribe(keepingUpTo:isolation:label:fileID:line:_:)``.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  ///   - handler: called with each update. It may apply, subscribe and cancel.
  /// - Returns: a handle; the subscription ends when the handle is destroyed.
  /// - Precondition: `limit` is at least 1.
  /// - Complexity: amortised O(1).
  @inlinable
  public func subscribe(
    on main: MainActorPlace, keepingUpTo limit: Int = .max, label: String? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    _ handler: @escaping @MainActor @Sendable (StateUpdate<State, Change>) -> Void
  ) -> EventSubscription {
    subscribe(.isolated(handler, context: nil), limit, origin: Origin(fileID, line, label))
  }

  /// Calls `handler` on `queue` with a snapshot of the state, and then with each update, one at a
  /// time even if the queue is concurrent.
  ///
  /// - Parameters:
  ///   - queue: the queue on which to call the handler.
  ///   - limit: how many changes may wait; see
  ///     ``subscribe(keepingUpTo:isolation:label:fileID:line:_:)``.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  ///   - handler: called with each update. It may apply, subscribe and cancel.
  /// - Returns: a handle; the subscription ends when the handle is destroyed.
  /// - Precondition: `limit` is at least 1.
  /// - Complexity: amortised O(1).
  @inlinable @_disfavoredOverload
  public func subscribe(
    on queue: DispatchQueue, keepingUpTo limit: Int = .max, label: String? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    _ handler: @escaping @Sendable (StateUpdate<State, Change>) -> Void
  ) -> EventSubscription {
    subscribe(.queue(queue, handler), limit, origin: Origin(fileID, line, label))
  }

  /// Calls `handler` with `owner`, a snapshot of the state, and then each update, as long as
  /// `owner` lives, on the actor to which the handler belongs.
  ///
  /// The hub keeps `owner` alive only during each call. The subscription ends with the owner, not
  /// with the handle.
  ///
  /// - Parameters:
  ///   - owner: the object with which the subscription ends.
  ///   - limit: how many changes may wait; see
  ///     ``subscribe(keepingUpTo:isolation:label:fileID:line:_:)``.
  ///   - isolation: the actor that calls this function. Leave it out.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  ///   - handler: called with each update. It should not capture the owner.
  /// - Returns: a handle to end the subscription earlier.
  /// - Precondition: `limit` is at least 1.
  /// - Complexity: amortised O(1).
  @inlinable @discardableResult
  public func subscribe<Owner: AnyObject & Sendable>(
    with owner: Owner, keepingUpTo limit: Int = .max,
    isolation: isolated (any Actor)? = #isolation, label: String? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    @_inheritActorContext
    _ handler: @escaping @isolated(any) @Sendable (Owner, StateUpdate<State, Change>) -> Void
  ) -> EventSubscription {
    subscribe(
      .isolated(handler, with: owner, context: isolation), limit, owner: owner,
      origin: Origin(fileID, line, label))
  }

  /// Calls `handler` on `owner`, an actor, with a snapshot of the state, and then each update, as
  /// long as `owner` lives.
  ///
  /// - Parameters:
  ///   - owner: the actor on which to call the handler, and with which the subscription ends.
  ///   - limit: how many changes may wait; see
  ///     ``subscribe(keepingUpTo:isolation:label:fileID:line:_:)``.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  ///   - handler: called with each update. It should not capture the owner.
  /// - Returns: a handle to end the subscription earlier.
  /// - Precondition: `limit` is at least 1.
  /// - Complexity: amortised O(1).
  @inlinable @discardableResult
  public func subscribe<Owner: Actor>(
    with owner: Owner, keepingUpTo limit: Int = .max, label: String? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    _ handler: @escaping @Sendable (isolated Owner, StateUpdate<State, Change>) -> Void
  ) -> EventSubscription {
    subscribe(.actor(owner, handler), limit, owner: owner, origin: Origin(fileID, line, label))
  }

  // Inlinable, so that the compiler specialises the functions that turn signals into updates: with
  // types that are found at run time, each delivery takes twenty times as long.
  @inlinable
  func subscribe(
    _ delivery: HandlerDelivery<StateUpdate<State, Change>>, _ limit: Int,
    owner: (any AnyObject & Sendable)? = nil, origin: Origin
  ) -> EventSubscription {
    // Also if nothing is limited: whether that is so may depend on the caller's actor.
    requireLimit(limit)
    let (delivery, origin) = measured(delivery, origin)
    if case .sender(let handler) = delivery {
      let follower = StateFollower<State, Change>(cell, waitsForRefresh: true)
      let subscription = hub.subscribeInOrder(
        { if let update = follower.update(for: $0) { handler(update) } }, owner: owner,
        origin: origin)
      // After the end, a buffer has the snapshot.
      if let subscription { return subscription }
    }
    let follower = StateFollower<State, Change>(cell)
    return add(delivery.mapping { follower.update(for: $0) }, limit, owner, origin)
  }

  @usableFromInline
  func add(
    _ delivery: HandlerDelivery<Signal>, _ limit: Int, _ owner: (any AnyObject & Sendable)?,
    _ origin: Origin
  ) -> EventSubscription {
    var request = SubscriptionRequest(
      delivery, Self.buffering(limit), nil, [], owner: owner, origin: origin)
    request.isMeasured = true
    return hub.subscribe(request)
  }

  /// `delivery` with a timer, if the hub measures its handlers. A signal that makes no update, as
  /// the subscriber has it already, is no call.
  @usableFromInline
  func measured(
    _ delivery: HandlerDelivery<StateUpdate<State, Change>>, _ origin: Origin
  ) -> (HandlerDelivery<StateUpdate<State, Change>>, Origin) {
    let origin = hub.measured(origin)
    return (delivery.measured(by: origin.timer), origin)
  }

  /// Keeps the newest changes: a follower then always receives the last one, and finds the gap.
  static func buffering(_ limit: Int) -> BufferingPolicy<Signal> {
    .bounded(limit, whenFull: .dropOldest)
  }
}

extension HandlerDelivery {
  /// A delivery at the same place of other events, each as `transform` makes it; `nil` is skipped.
  @inlinable
  func mapping<Other: Sendable>(
    _ transform: @escaping @Sendable (Other) -> Event?
  ) -> HandlerDelivery<Other> {
    switch self {
    case .sender(let handler): .sender { if let event = transform($0) { handler(event) } }
    case .queue(let queue, let handler):
      .queue(queue) { if let event = transform($0) { handler(event) } }
    case .actor(let home, let handler):
      .actor(home) { if let event = transform($0) { handler(event) } }
    case .task(let home, let limit, let handler):
      .task(home, limit: limit) { if let event = transform($0) { await handler(event) } }
    }
  }
}
