public import Dispatch

// The overloads of `subscribe` for handlers that receive positions, for topics by their names.

extension TopicHub where Topic == String {
  /// Calls `handler` with the retained events of one or several topics after `start`, and with each
  /// event from then on, with their positions, on the actor to which the handler belongs; by
  /// senders if it belongs to none.
  ///
  /// As ``events(for:from:buffering:label:fileID:line:)-([String],_,_,_,_,_)``, without a task:
  ///
  /// ```swift
  /// let subscription = rooms.subscribe(to: ["swift", "linux"], from: .after(last)) { element in
  ///   switch element {
  ///   case .event(let message, at: let position): show(message, position)
  ///   case .missed(let range, of: let topic): showGap(range.count, topic)
  ///   }
  /// }
  /// ```
  /// The subscriber has no buffer of its own: what waits for it is what the hub retains, and a slow
  /// one misses what leaves. While it is blocked it receives nothing, and afterwards goes on from
  /// there. ``flush()`` waits for it, but not for what an external log has yet to answer.
  ///
  /// - Parameters:
  ///   - topics: created if they have no subscriber yet. One that is named twice counts once.
  ///   - start: where the subscription begins.
  ///   - isolation: the actor that calls this function. Leave it out.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  ///   - handler: called with one element at a time. It may send, subscribe and cancel.
  /// - Returns: a handle; the subscription ends when the handle is destroyed. After
  ///   ``finish()``: the handler receives what is retained, and the subscription ends. If several
  ///   topics finish with errors, its failure is that of the first one in `topics`.
  /// - Precondition: the hub retains events, and there is a topic.
  /// - Complexity: amortised O(topics), and the calls if the handler belongs to no actor.
  public func subscribe(
    to topics: [String], from start: SubscriptionStart,
    isolation: isolated (any Actor)? = #isolation, label: String? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    @_inheritActorContext
    _ handler: @escaping @isolated(any) @Sendable (PositionedTopicEvent<Event>) -> Void
  ) -> EventSubscription {
    follow(.isolated(handler, context: isolation), origin: Origin(fileID, line, label)) {
      request(for: topics, from: start, .unbounded, $0)
    }
  }

  /// As ``subscribe(to:from:isolation:label:fileID:line:_:)``; senders call the handler,
  /// one at a time. It is called with what is retained before this returns, unless an external log
  /// has to answer.
  ///
  /// - Parameters:
  ///   - topics: created if they have no subscriber yet. One that is named twice counts once.
  ///   - start: where the subscription begins.
  ///   - sender: `.sender`. Code that belongs to no actor may leave it out.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  ///   - handler: called with each element. It may send, subscribe and cancel.
  /// - Returns: a handle; the subscription ends when the handle is destroyed.
  /// - Precondition: the hub retains events, and there is a topic.
  /// - Complexity: amortised O(topics), and the calls.
  public func subscribe(
    to topics: [String], from start: SubscriptionStart, on sender: SenderPlace,
    label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    _ handler: @escaping @Sendable (PositionedTopicEvent<Event>) -> Void
  ) -> EventSubscription {
    follow(.sender(handler), origin: Origin(fileID, line, label)) {
      request(for: topics, from: start, .unbounded, $0)
    }
  }

  /// As ``subscribe(to:from:isolation:label:fileID:line:_:)``, on the main actor.
  ///
  /// - Parameters:
  ///   - topics: created if they have no subscriber yet. One that is named twice counts once.
  ///   - start: where the subscription begins.
  ///   - main: `.main`.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  ///   - handler: called with each element. It may send, subscribe and cancel.
  /// - Returns: a handle; the subscription ends when the handle is destroyed.
  /// - Precondition: the hub retains events, and there is a topic.
  /// - Complexity: amortised O(topics).
  public func subscribe(
    to topics: [String], from start: SubscriptionStart, on main: MainActorPlace,
    label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    _ handler: @escaping @MainActor @Sendable (PositionedTopicEvent<Event>) -> Void
  ) -> EventSubscription {
    follow(.isolated(handler, context: nil), origin: Origin(fileID, line, label)) {
      request(for: topics, from: start, .unbounded, $0)
    }
  }

  /// As ``subscribe(to:from:isolation:label:fileID:line:_:)``, on a queue: one element at a
  /// time, in order, even if the queue is concurrent.
  ///
  /// - Parameters:
  ///   - topics: created if they have no subscriber yet. One that is named twice counts once.
  ///   - start: where the subscription begins.
  ///   - queue: the queue on which to call the handler.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  ///   - handler: called with each element. It may send, subscribe and cancel.
  /// - Returns: a handle; the subscription ends when the handle is destroyed.
  /// - Precondition: the hub retains events, and there is a topic.
  /// - Complexity: amortised O(topics).
  @_disfavoredOverload
  public func subscribe(
    to topics: [String], from start: SubscriptionStart, on queue: DispatchQueue,
    label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    _ handler: @escaping @Sendable (PositionedTopicEvent<Event>) -> Void
  ) -> EventSubscription {
    follow(.queue(queue, handler), origin: Origin(fileID, line, label)) {
      request(for: topics, from: start, .unbounded, $0)
    }
  }

  /// As ``subscribe(to:from:isolation:label:fileID:line:_:)``, as long as `owner` lives,
  /// which the hub keeps alive only while it calls the handler: for at most 64 elements. The
  /// subscription ends with the owner, not with the handle.
  ///
  /// - Parameters:
  ///   - topics: created if they have no subscriber yet. One that is named twice counts once.
  ///   - owner: the object with which the subscription ends.
  ///   - start: where the subscription begins.
  ///   - isolation: the actor that calls this function. Leave it out.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  ///   - handler: called with the owner and each element. It should not capture the owner.
  /// - Returns: a handle to end the subscription earlier.
  /// - Precondition: the hub retains events, and there is a topic.
  /// - Complexity: amortised O(topics), and the calls if the handler belongs to no actor.
  @discardableResult
  public func subscribe<Owner: AnyObject & Sendable>(
    to topics: [String], with owner: Owner, from start: SubscriptionStart,
    isolation: isolated (any Actor)? = #isolation, label: String? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    @_inheritActorContext
    _ handler: @escaping @isolated(any) @Sendable (Owner, PositionedTopicEvent<Event>) -> Void
  ) -> EventSubscription {
    follow(
      .isolated(handler, with: owner, context: isolation), owner: owner,
      origin: Origin(fileID, line, label)
    ) {
      request(for: topics, from: start, .unbounded, $0)
    }
  }

  /// As ``subscribe(to:with:from:isolation:label:fileID:line:_:)``, on `owner`, an actor.
  ///
  /// - Parameters:
  ///   - topics: created if they have no subscriber yet. One that is named twice counts once.
  ///   - owner: the actor on which to call the handler, and with which the subscription ends.
  ///   - start: where the subscription begins.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  ///   - handler: called with the owner and each element. It should not capture the owner.
  /// - Returns: a handle to end the subscription earlier.
  /// - Precondition: the hub retains events, and there is a topic.
  /// - Complexity: amortised O(topics).
  @discardableResult
  public func subscribe<Owner: Actor>(
    to topics: [String], with owner: Owner, from start: SubscriptionStart,
    label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    _ handler: @escaping @Sendable (isolated Owner, PositionedTopicEvent<Event>) -> Void
  ) -> EventSubscription {
    follow(.actor(owner, handler), owner: owner, origin: Origin(fileID, line, label)) {
      request(for: topics, from: start, .unbounded, $0)
    }
  }
}
