public import Dispatch

// The overloads of `subscribe` for handlers that receive positions, for patterns.

extension TopicHub where Topic == String {
  /// As ``subscribe(to:from:isolation:label:fileID:line:_:)``, for the topics that at least one of
  /// `patterns` matches, also topics that begin later.
  ///
  /// ```swift
  /// let subscription = rooms.subscribe(matching: ["rooms.*.alerts"], from: .retained) { element in
  ///   if case .event(let alert, at: _) = element { show(alert.topic, alert.event) }
  /// }
  /// ```
  /// For matching topics of which nothing is retained any more, the subscriber receives one range
  /// without a topic, up to where they may have had events. The subscription ends when the hub
  /// finishes. The consumer reads what the hub retains of all topics after its last position, and
  /// takes what matches.
  ///
  /// - Parameters:
  ///   - patterns: which topics. The name of a topic is a pattern too.
  ///   - start: where the subscription begins.
  ///   - isolation: the actor that calls this function. Leave it out.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  ///   - handler: called with one element at a time. It may send, subscribe and cancel.
  /// - Returns: a handle; the subscription ends when the handle is destroyed. After
  ///   ``finish()``: the handler receives what is retained, and the subscription ends.
  /// - Precondition: the hub retains events, and there is a pattern.
  /// - Complexity: amortised O(tokens of `patterns`), and the calls if the handler belongs to no
  ///   actor.
  public func subscribe(
    matching patterns: [TopicPattern], from start: SubscriptionStart,
    isolation: isolated (any Actor)? = #isolation, label: String? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    @_inheritActorContext
    _ handler: @escaping @isolated(any) @Sendable (PositionedTopicEvent<Event>) -> Void
  ) -> EventSubscription {
    follow(.isolated(handler, context: isolation), origin: Origin(fileID, line, label)) {
      request(matching: patterns, from: start, $0)
    }
  }

  /// As ``subscribe(matching:from:isolation:label:fileID:line:_:)``; senders call the handler,
  /// one at a time. It is called with what is retained before this returns, unless an external log
  /// has to answer.
  ///
  /// - Parameters:
  ///   - patterns: which topics. The name of a topic is a pattern too.
  ///   - start: where the subscription begins.
  ///   - sender: `.sender`. Code that belongs to no actor may leave it out.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  ///   - handler: called with each element. It may send, subscribe and cancel.
  /// - Returns: a handle; the subscription ends when the handle is destroyed.
  /// - Precondition: the hub retains events, and there is a pattern.
  /// - Complexity: amortised O(tokens of `patterns`), and the calls.
  public func subscribe(
    matching patterns: [TopicPattern], from start: SubscriptionStart, on sender: SenderPlace,
    label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    _ handler: @escaping @Sendable (PositionedTopicEvent<Event>) -> Void
  ) -> EventSubscription {
    follow(.sender(handler), origin: Origin(fileID, line, label)) {
      request(matching: patterns, from: start, $0)
    }
  }

  /// As ``subscribe(matching:from:isolation:label:fileID:line:_:)``, on the main actor.
  ///
  /// - Parameters:
  ///   - patterns: which topics. The name of a topic is a pattern too.
  ///   - start: where the subscription begins.
  ///   - main: `.main`.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  ///   - handler: called with each element. It may send, subscribe and cancel.
  /// - Returns: a handle; the subscription ends when the handle is destroyed.
  /// - Precondition: the hub retains events, and there is a pattern.
  /// - Complexity: amortised O(tokens of `patterns`).
  public func subscribe(
    matching patterns: [TopicPattern], from start: SubscriptionStart, on main: MainActorPlace,
    label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    _ handler: @escaping @MainActor @Sendable (PositionedTopicEvent<Event>) -> Void
  ) -> EventSubscription {
    follow(.isolated(handler, context: nil), origin: Origin(fileID, line, label)) {
      request(matching: patterns, from: start, $0)
    }
  }

  /// As ``subscribe(matching:from:isolation:label:fileID:line:_:)``, on a queue: one element
  /// at a time, in order, even if the queue is concurrent.
  ///
  /// - Parameters:
  ///   - patterns: which topics. The name of a topic is a pattern too.
  ///   - start: where the subscription begins.
  ///   - queue: the queue on which to call the handler.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  ///   - handler: called with each element. It may send, subscribe and cancel.
  /// - Returns: a handle; the subscription ends when the handle is destroyed.
  /// - Precondition: the hub retains events, and there is a pattern.
  /// - Complexity: amortised O(tokens of `patterns`).
  @_disfavoredOverload
  public func subscribe(
    matching patterns: [TopicPattern], from start: SubscriptionStart, on queue: DispatchQueue,
    label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    _ handler: @escaping @Sendable (PositionedTopicEvent<Event>) -> Void
  ) -> EventSubscription {
    follow(.queue(queue, handler), origin: Origin(fileID, line, label)) {
      request(matching: patterns, from: start, $0)
    }
  }

  /// As ``subscribe(matching:from:isolation:label:fileID:line:_:)``, as long as `owner` lives,
  /// which the hub keeps alive only while it calls the handler: for at most 64 elements. The
  /// subscription ends with the owner, not with the handle.
  ///
  /// - Parameters:
  ///   - patterns: which topics. The name of a topic is a pattern too.
  ///   - owner: the object with which the subscription ends.
  ///   - start: where the subscription begins.
  ///   - isolation: the actor that calls this function. Leave it out.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  ///   - handler: called with the owner and each element. It should not capture the owner.
  /// - Returns: a handle to end the subscription earlier.
  /// - Precondition: the hub retains events, and there is a pattern.
  /// - Complexity: amortised O(tokens of `patterns`), and the calls if the handler belongs to no
  ///   actor.
  @discardableResult
  public func subscribe<Owner: AnyObject & Sendable>(
    matching patterns: [TopicPattern], with owner: Owner, from start: SubscriptionStart,
    isolation: isolated (any Actor)? = #isolation, label: String? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    @_inheritActorContext
    _ handler: @escaping @isolated(any) @Sendable (Owner, PositionedTopicEvent<Event>) -> Void
  ) -> EventSubscription {
    follow(
      .isolated(handler, with: owner, context: isolation), owner: owner,
      origin: Origin(fileID, line, label)
    ) {
      request(matching: patterns, from: start, $0)
    }
  }

  /// As ``subscribe(matching:with:from:isolation:label:fileID:line:_:)``, on `owner`, an
  /// actor.
  ///
  /// - Parameters:
  ///   - patterns: which topics. The name of a topic is a pattern too.
  ///   - owner: the actor on which to call the handler, and with which the subscription ends.
  ///   - start: where the subscription begins.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  ///   - handler: called with the owner and each element. It should not capture the owner.
  /// - Returns: a handle to end the subscription earlier.
  /// - Precondition: the hub retains events, and there is a pattern.
  /// - Complexity: amortised O(tokens of `patterns`).
  @discardableResult
  public func subscribe<Owner: Actor>(
    matching patterns: [TopicPattern], with owner: Owner, from start: SubscriptionStart,
    label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    _ handler: @escaping @Sendable (isolated Owner, PositionedTopicEvent<Event>) -> Void
  ) -> EventSubscription {
    follow(.actor(owner, handler), owner: owner, origin: Origin(fileID, line, label)) {
      request(matching: patterns, from: start, $0)
    }
  }
}
