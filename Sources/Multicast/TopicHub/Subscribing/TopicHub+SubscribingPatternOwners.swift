public import Dispatch

// The overloads of `subscribe` for one pattern, for a subscription that ends with an object.

extension TopicHub where Topic == String {
  /// Calls `handler` on its actor with `owner` and each event of a topic that `pattern` matches,
  /// with the topic, from now on, as long as `owner` lives. Otherwise as the function for one
  /// topic.
  ///
  /// - Parameters:
  ///   - pattern: which topics. The name of a topic is a pattern too.
  ///   - owner: the object with which the subscription ends.
  ///   - buffering: how many events may wait for the handler, if it belongs to an actor.
  ///   - filter: which events the subscriber receives; called by senders.
  ///   - options: further choices of this subscriber.
  ///   - isolation: the actor that calls this function. Leave it out.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  ///   - handler: called with each event. It should not capture the owner.
  /// - Returns: a handle to end the subscription earlier.
  /// - Complexity: amortised O(tokens of `pattern`).
  @discardableResult
  public func subscribe<Owner: AnyObject & Sendable>(
    matching pattern: TopicPattern,
    with owner: Owner, buffering: BufferingPolicy<TopicEvent<String, Event>> = .unbounded,
    where filter: (@Sendable (TopicEvent<String, Event>) -> Bool)? = nil,
    options: [SubscriberOption<TopicEvent<String, Event>>] = [],
    isolation: isolated (any Actor)? = #isolation, label: String? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    @_inheritActorContext _ handler:
      @escaping @isolated(any) @Sendable (Owner, TopicEvent<String, Event>) -> Void
  ) -> EventSubscription {
    subscribe(
      matching: CollectionOfOne(pattern),
      SubscriptionRequest(
        .isolated(handler, with: owner, context: isolation), buffering, filter, options,
        owner: owner, origin: Origin(fileID, line, label)))
  }

  /// Calls `handler` on `owner`, an actor, with each event of a topic that `pattern` matches, with
  /// the topic, from now on, as long as `owner` lives. Otherwise as the function for one topic.
  ///
  /// - Parameters:
  ///   - pattern: which topics. The name of a topic is a pattern too.
  ///   - owner: the actor on which to call the handler, and with which the subscription ends.
  ///   - buffering: how many events may wait for the handler.
  ///   - filter: which events the subscriber receives; called by senders.
  ///   - options: further choices of this subscriber.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  ///   - handler: called with each event. It should not capture the owner.
  /// - Returns: a handle to end the subscription earlier.
  /// - Complexity: amortised O(tokens of `pattern`).
  @discardableResult
  public func subscribe<Owner: Actor>(
    matching pattern: TopicPattern,
    with owner: Owner, buffering: BufferingPolicy<TopicEvent<String, Event>> = .unbounded,
    where filter: (@Sendable (TopicEvent<String, Event>) -> Bool)? = nil,
    options: [SubscriberOption<TopicEvent<String, Event>>] = [], label: String? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    _ handler: @escaping @Sendable (isolated Owner, TopicEvent<String, Event>) -> Void
  ) -> EventSubscription {
    subscribe(
      matching: CollectionOfOne(pattern),
      SubscriptionRequest(
        .actor(owner, handler), buffering, filter, options, owner: owner,
        origin: Origin(fileID, line, label)))
  }

  /// Awaits `handler` with `owner` and each event of a topic that `pattern` matches, with the
  /// topic, from now on, as long as `owner` lives. Otherwise as the function for one topic.
  ///
  /// - Parameters:
  ///   - pattern: which topics. The name of a topic is a pattern too.
  ///   - owner: the object with which the subscription ends. A call keeps it alive.
  ///   - buffering: how many events may wait for the handler.
  ///   - filter: which events the subscriber receives; called by senders.
  ///   - options: further choices of this subscriber.
  ///   - maxConcurrentCalls: how many calls may run at once. With 1, they run one after the other,
  ///     in the order of each sender; otherwise they begin in that order.
  ///   - isolation: the actor that calls this function. Leave it out.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  ///   - handler: called with each event. It should not capture the owner.
  /// - Returns: a handle to end the subscription earlier.
  /// - Precondition: `maxConcurrentCalls` is at least 1.
  /// - Complexity: amortised O(tokens of `pattern`).
  @discardableResult
  public func subscribe<Owner: AnyObject & Sendable>(
    matching pattern: TopicPattern,
    with owner: Owner, buffering: BufferingPolicy<TopicEvent<String, Event>> = .unbounded,
    where filter: (@Sendable (TopicEvent<String, Event>) -> Bool)? = nil,
    options: [SubscriberOption<TopicEvent<String, Event>>] = [],
    maxConcurrentCalls: Int = 1, isolation: isolated (any Actor)? = #isolation,
    label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    @_inheritActorContext _ handler:
      @escaping @isolated(any) @Sendable (Owner, TopicEvent<String, Event>) async -> Void
  ) -> EventSubscription {
    subscribe(
      matching: CollectionOfOne(pattern),
      SubscriptionRequest(
        .isolated(limit: maxConcurrentCalls, handler, with: owner, context: isolation), buffering,
        filter, options,
        owner: owner, origin: Origin(fileID, line, label)))
  }

  /// Awaits `handler` on `owner`, an actor, with each event of a topic that `pattern` matches, with
  /// the topic, from now on, as long as `owner` lives. Otherwise as the function for one topic.
  ///
  /// - Parameters:
  ///   - pattern: which topics. The name of a topic is a pattern too.
  ///   - owner: the actor on which to call the handler, and with which the subscription ends. A
  ///     call keeps it alive.
  ///   - buffering: how many events may wait for the handler.
  ///   - filter: which events the subscriber receives; called by senders.
  ///   - options: further choices of this subscriber.
  ///   - maxConcurrentCalls: how many calls may run at once. With 1, they run one after the other,
  ///     in the order of each sender; otherwise they begin in that order.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  ///   - handler: called with each event. It should not capture the owner.
  /// - Returns: a handle to end the subscription earlier.
  /// - Precondition: `maxConcurrentCalls` is at least 1.
  /// - Complexity: amortised O(tokens of `pattern`).
  @discardableResult
  public func subscribe<Owner: Actor>(
    matching pattern: TopicPattern,
    with owner: Owner, buffering: BufferingPolicy<TopicEvent<String, Event>> = .unbounded,
    where filter: (@Sendable (TopicEvent<String, Event>) -> Bool)? = nil,
    options: [SubscriberOption<TopicEvent<String, Event>>] = [],
    maxConcurrentCalls: Int = 1, label: String? = nil, fileID: StaticString = #fileID,
    line: UInt = #line,
    _ handler: @escaping @Sendable (isolated Owner, TopicEvent<String, Event>) async -> Void
  ) -> EventSubscription {
    subscribe(
      matching: CollectionOfOne(pattern),
      SubscriptionRequest(
        .task(owner, limit: maxConcurrentCalls, handler), buffering, filter, options, owner: owner,
        origin: Origin(fileID, line, label)))
  }

  /// Calls `handler` on the thread that sends with `owner` and each event of a topic that `pattern`
  /// matches, with the topic, from now on, as long as `owner` lives. Otherwise as the function for
  /// one topic.
  ///
  /// - Parameters:
  ///   - pattern: which topics. The name of a topic is a pattern too.
  ///   - owner: the object with which the subscription ends.
  ///   - sender: `.sender`. Code that belongs to no actor may leave it out.
  ///   - filter: which events the subscriber receives; called by senders.
  ///   - options: further choices of this subscriber.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  ///   - handler: called with each event. It should not capture the owner.
  /// - Returns: a handle to end the subscription earlier.
  /// - Complexity: amortised O(tokens of `pattern`).
  @discardableResult
  public func subscribe<Owner: AnyObject & Sendable>(
    matching pattern: TopicPattern,
    with owner: Owner, on sender: SenderPlace,
    where filter: (@Sendable (TopicEvent<String, Event>) -> Bool)? = nil,
    options: [SubscriberOption<TopicEvent<String, Event>>] = [], label: String? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    _ handler: @escaping @Sendable (Owner, TopicEvent<String, Event>) -> Void
  ) -> EventSubscription {
    subscribe(
      matching: CollectionOfOne(pattern),
      SubscriptionRequest(
        .isolated(handler, with: owner, context: nil), .unbounded, filter, options, owner: owner,
        origin: Origin(fileID, line, label)))
  }

  /// Calls `handler` on the main actor with `owner` and each event of a topic that `pattern`
  /// matches, with the topic, from now on, as long as `owner` lives. Otherwise as the function for
  /// one topic.
  ///
  /// - Parameters:
  ///   - pattern: which topics. The name of a topic is a pattern too.
  ///   - owner: the object with which the subscription ends.
  ///   - main: `.main`.
  ///   - buffering: how many events may wait for the handler.
  ///   - filter: which events the subscriber receives; called by senders.
  ///   - options: further choices of this subscriber.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  ///   - handler: called with each event. It should not capture the owner.
  /// - Returns: a handle to end the subscription earlier.
  /// - Complexity: amortised O(tokens of `pattern`).
  @discardableResult
  public func subscribe<Owner: AnyObject & Sendable>(
    matching pattern: TopicPattern,
    with owner: Owner, on main: MainActorPlace,
    buffering: BufferingPolicy<TopicEvent<String, Event>> = .unbounded,
    where filter: (@Sendable (TopicEvent<String, Event>) -> Bool)? = nil,
    options: [SubscriberOption<TopicEvent<String, Event>>] = [], label: String? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    _ handler: @escaping @MainActor @Sendable (Owner, TopicEvent<String, Event>) -> Void
  ) -> EventSubscription {
    subscribe(
      matching: CollectionOfOne(pattern),
      SubscriptionRequest(
        .isolated(handler, with: owner, context: nil), buffering, filter, options, owner: owner,
        origin: Origin(fileID, line, label)))
  }

  /// Calls `handler` on `queue` with `owner` and each event of a topic that `pattern` matches, with
  /// the topic, from now on, as long as `owner` lives. Otherwise as the function for one topic.
  ///
  /// - Parameters:
  ///   - pattern: which topics. The name of a topic is a pattern too.
  ///   - owner: the object with which the subscription ends.
  ///   - queue: the queue on which to call the handler: serial, concurrent or global.
  ///   - buffering: how many events may wait for the handler.
  ///   - filter: which events the subscriber receives; called by senders.
  ///   - options: further choices of this subscriber.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  ///   - handler: called with each event. It should not capture the owner.
  /// - Returns: a handle to end the subscription earlier.
  /// - Complexity: amortised O(tokens of `pattern`).
  @_disfavoredOverload
  @discardableResult
  public func subscribe<Owner: AnyObject & Sendable>(
    matching pattern: TopicPattern,
    with owner: Owner, on queue: DispatchQueue,
    buffering: BufferingPolicy<TopicEvent<String, Event>> = .unbounded,
    where filter: (@Sendable (TopicEvent<String, Event>) -> Bool)? = nil,
    options: [SubscriberOption<TopicEvent<String, Event>>] = [], label: String? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    _ handler: @escaping @Sendable (Owner, TopicEvent<String, Event>) -> Void
  ) -> EventSubscription {
    subscribe(
      matching: CollectionOfOne(pattern),
      SubscriptionRequest(
        .queue(queue, handler, with: owner), buffering, filter, options, owner: owner,
        origin: Origin(fileID, line, label)))
  }
}
