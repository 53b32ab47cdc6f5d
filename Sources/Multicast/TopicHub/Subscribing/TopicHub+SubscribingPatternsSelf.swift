public import Dispatch

// The overloads of `subscribe` for several patterns, for handlers that receive their own
// subscription.

extension TopicHub where Topic == String {
  /// Calls `handler` with its own subscription and each event of a topic that at least one of
  /// `patterns` matches, with the topic, on the actor to which the handler belongs, or by the
  /// sender if it belongs to none. Each is delivered once, also if several match. Otherwise as the
  /// function for one pattern.
  ///
  /// - Parameters:
  ///   - patterns: which topics; none if it is empty.
  ///   - buffering: how many events may wait for the handler.
  ///   - filter: which events the subscriber receives; called by senders. Other events do not enter
  ///     the buffer.
  ///   - options: further choices of this subscriber.
  ///   - isolation: the actor that calls this function. Leave it out.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  ///   - handler: called with the subscription and each event.
  /// - Returns: a handle; the subscription ends when the handle is destroyed.
  /// - Complexity: amortised O(tokens of `patterns`).
  @_disfavoredOverload
  public func subscribe(
    matching patterns: [TopicPattern],
    buffering: BufferingPolicy<TopicEvent<String, Event>> = .unbounded,
    where filter: (@Sendable (TopicEvent<String, Event>) -> Bool)? = nil,
    options: [SubscriberOption<TopicEvent<String, Event>>] = [],
    isolation: isolated (any Actor)? = #isolation, label: String? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    @_inheritActorContext
    _ handler:
      @escaping @isolated(any) @Sendable (EventSubscription, TopicEvent<String, Event>) -> Void
  ) -> EventSubscription {
    let binding = SubscriptionBinding()
    return subscribe(
      matching: patterns,
      SubscriptionRequest(
        .isolated(handler, binding, context: isolation), buffering, filter, options,
        binding: binding, origin: Origin(fileID, line, label)))
  }

  /// Calls `handler` with its own subscription and each event of a topic that at least one of
  /// `patterns` matches, with the topic, on `queue`. Each is delivered once, also if several match.
  /// Otherwise as the function for one pattern.
  ///
  /// - Parameters:
  ///   - patterns: which topics; none if it is empty.
  ///   - queue: the queue on which to call the handler.
  ///   - buffering: how many events may wait for the handler.
  ///   - filter: which events the subscriber receives; called by senders. Other events do not enter
  ///     the buffer.
  ///   - options: further choices of this subscriber.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  ///   - handler: called with the subscription and each event.
  /// - Returns: a handle; the subscription ends when the handle is destroyed.
  /// - Complexity: amortised O(tokens of `patterns`).
  @_disfavoredOverload
  public func subscribe(
    matching patterns: [TopicPattern], on queue: DispatchQueue,
    buffering: BufferingPolicy<TopicEvent<String, Event>> = .unbounded,
    where filter: (@Sendable (TopicEvent<String, Event>) -> Bool)? = nil,
    options: [SubscriberOption<TopicEvent<String, Event>>] = [], label: String? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    _ handler: @escaping @Sendable (EventSubscription, TopicEvent<String, Event>) -> Void
  ) -> EventSubscription {
    let binding = SubscriptionBinding()
    return subscribe(
      matching: patterns,
      SubscriptionRequest(
        .queue(queue) { handler(binding.subscription, $0) }, buffering, filter, options,
        binding: binding, origin: Origin(fileID, line, label)))
  }

  /// Awaits `handler` with its own subscription and each event of a topic that at least one of
  /// `patterns` matches, with the topic, in tasks of the hub, on the actor to which the handler
  /// belongs, if it belongs to one. Each is delivered once, also if several match. Otherwise as the
  /// function for one pattern.
  ///
  /// - Parameters:
  ///   - patterns: which topics; none if it is empty.
  ///   - buffering: how many events may wait for the handler.
  ///   - filter: which events the subscriber receives; called by senders. Other events do not enter
  ///     the buffer.
  ///   - options: further choices of this subscriber.
  ///   - maxConcurrentCalls: how many calls may run at once. With 1, they run one after the other,
  ///     in the order of each sender; otherwise they begin in that order.
  ///   - isolation: the actor that calls this function. Leave it out.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  ///   - handler: called with the subscription and each event.
  /// - Returns: a handle; the subscription ends when the handle is destroyed.
  /// - Precondition: `maxConcurrentCalls` is at least 1.
  /// - Complexity: amortised O(tokens of `patterns`).
  @_disfavoredOverload
  public func subscribe(
    matching patterns: [TopicPattern],
    buffering: BufferingPolicy<TopicEvent<String, Event>> = .unbounded,
    where filter: (@Sendable (TopicEvent<String, Event>) -> Bool)? = nil,
    options: [SubscriberOption<TopicEvent<String, Event>>] = [],
    maxConcurrentCalls: Int = 1, isolation: isolated (any Actor)? = #isolation,
    label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    @_inheritActorContext
    _ handler:
      @escaping @isolated(any) @Sendable (EventSubscription, TopicEvent<String, Event>) async ->
      Void
  ) -> EventSubscription {
    let binding = SubscriptionBinding()
    return subscribe(
      matching: patterns,
      SubscriptionRequest(
        .isolated(limit: maxConcurrentCalls, handler, binding, context: isolation), buffering,
        filter, options,
        binding: binding, origin: Origin(fileID, line, label)))
  }
}
