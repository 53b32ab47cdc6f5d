public import Dispatch

// The overloads of `subscribe` for one pattern.

extension TopicHub where Topic == String {
  /// Calls `handler` on its actor with each event of a topic that `pattern` matches, with the
  /// topic, from now on. Otherwise as the function for one topic.
  ///
  /// ```swift
  /// let log = orders.subscribe(matching: "orders.*.paid") { print($0.topic, $0.event) }
  /// ```
  ///
  /// As a subscriber of all topics, it receives also the events of topics that begin later, and of
  /// topics without other subscribers; sees the events of each topic in the order in which the
  /// subscribers of that topic see them; counts in what ``send(_:to:)`` returns, but not as a
  /// subscriber of a topic; keeps no topic in existence, and ``finish(_:)`` does not end it.
  ///
  /// A `send` finds the matching patterns in O(tokens of the topic) on average, however many
  /// patterns there are, if a bounded number of them begins with what matches the beginning of the
  /// topic. Each further `*` may double that number: a thousand patterns such as `a.*.a.x`, with
  /// `a` or `*` in ten places, cost as much as a thousand that match.
  ///
  /// - Parameters:
  ///   - pattern: which topics. The name of a topic is a pattern too.
  ///   - buffering: how many events may wait for the handler, if it belongs to an actor.
  ///   - filter: which events the subscriber receives; called by senders. Other events do not enter
  ///     the buffer.
  ///   - options: further choices of this subscriber.
  ///   - isolation: the actor that calls this function. Leave it out.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  ///   - handler: called with each event. It may send, subscribe and cancel.
  /// - Returns: a handle; the subscription ends when the handle is destroyed. After ``finish()``:
  ///   the handle of a subscription that has ended.
  /// - Complexity: amortised O(tokens of `pattern`).
  public func subscribe(
    matching pattern: TopicPattern,
    buffering: BufferingPolicy<TopicEvent<String, Event>> = .unbounded,
    where filter: (@Sendable (TopicEvent<String, Event>) -> Bool)? = nil,
    options: [SubscriberOption<TopicEvent<String, Event>>] = [],
    isolation: isolated (any Actor)? = #isolation, label: String? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    @_inheritActorContext _ handler:
      @escaping @isolated(any) @Sendable (TopicEvent<String, Event>) -> Void
  ) -> EventSubscription {
    subscribe(
      matching: CollectionOfOne(pattern),
      SubscriptionRequest(
        .isolated(handler, context: isolation), buffering, filter, options,
        origin: Origin(fileID, line, label)))
  }

  /// Awaits `handler` with each event of a topic that `pattern` matches, with the topic, from now
  /// on. Otherwise as the function for one topic.
  ///
  /// - Parameters:
  ///   - pattern: which topics. The name of a topic is a pattern too.
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
  ///   - handler: called with each event. It may send, subscribe and cancel.
  /// - Returns: a handle; the subscription ends when the handle is destroyed. After ``finish()``:
  ///   the handle of a subscription that has ended.
  /// - Precondition: `maxConcurrentCalls` is at least 1.
  /// - Complexity: amortised O(tokens of `pattern`).
  public func subscribe(
    matching pattern: TopicPattern,
    buffering: BufferingPolicy<TopicEvent<String, Event>> = .unbounded,
    where filter: (@Sendable (TopicEvent<String, Event>) -> Bool)? = nil,
    options: [SubscriberOption<TopicEvent<String, Event>>] = [],
    maxConcurrentCalls: Int = 1, isolation: isolated (any Actor)? = #isolation,
    label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    @_inheritActorContext _ handler:
      @escaping @isolated(any) @Sendable (TopicEvent<String, Event>) async -> Void
  ) -> EventSubscription {
    subscribe(
      matching: CollectionOfOne(pattern),
      SubscriptionRequest(
        .isolated(limit: maxConcurrentCalls, handler, context: isolation), buffering, filter,
        options, origin: Origin(fileID, line, label))
    )
  }

  /// Calls `handler` on the thread that sends with each event of a topic that `pattern` matches,
  /// with the topic, from now on. Otherwise as the function for one topic.
  ///
  /// - Parameters:
  ///   - pattern: which topics. The name of a topic is a pattern too.
  ///   - sender: `.sender`. Code that belongs to no actor may leave it out.
  ///   - filter: which events the subscriber receives; called by senders.
  ///   - options: further choices of this subscriber.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  ///   - handler: called with each event, by many threads at once if many send. It may send,
  ///     subscribe and cancel.
  /// - Returns: a handle; the subscription ends when the handle is destroyed. After ``finish()``:
  ///   the handle of a subscription that has ended.
  /// - Complexity: amortised O(tokens of `pattern`).
  public func subscribe(
    matching pattern: TopicPattern,
    on sender: SenderPlace, where filter: (@Sendable (TopicEvent<String, Event>) -> Bool)? = nil,
    options: [SubscriberOption<TopicEvent<String, Event>>] = [], label: String? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    _ handler: @escaping @Sendable (TopicEvent<String, Event>) -> Void
  ) -> EventSubscription {
    withHub(matching: [pattern]) {
      $0.subscribe(
        on: sender, where: filter, options: options, label: label, fileID: fileID, line: line,
        handler)
    }
  }

  /// Calls `handler` on the main actor with each event of a topic that `pattern` matches, with the
  /// topic, from now on. Otherwise as the function for one topic.
  ///
  /// - Parameters:
  ///   - pattern: which topics. The name of a topic is a pattern too.
  ///   - main: `.main`.
  ///   - buffering: how many events may wait for the handler.
  ///   - filter: which events the subscriber receives; called by senders. Other events do not enter
  ///     the buffer.
  ///   - options: further choices of this subscriber.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  ///   - handler: called with each event. It may send, subscribe and cancel.
  /// - Returns: a handle; the subscription ends when the handle is destroyed. After ``finish()``:
  ///   the handle of a subscription that has ended.
  /// - Complexity: amortised O(tokens of `pattern`).
  public func subscribe(
    matching pattern: TopicPattern,
    on main: MainActorPlace, buffering: BufferingPolicy<TopicEvent<String, Event>> = .unbounded,
    where filter: (@Sendable (TopicEvent<String, Event>) -> Bool)? = nil,
    options: [SubscriberOption<TopicEvent<String, Event>>] = [], label: String? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    _ handler: @escaping @MainActor @Sendable (TopicEvent<String, Event>) -> Void
  ) -> EventSubscription {
    subscribe(
      matching: CollectionOfOne(pattern),
      SubscriptionRequest(
        .isolated(handler, context: nil), buffering, filter, options,
        origin: Origin(fileID, line, label)))
  }

  /// Calls `handler` on `queue` with each event of a topic that `pattern` matches, with the topic,
  /// from now on. Otherwise as the function for one topic.
  ///
  /// - Parameters:
  ///   - pattern: which topics. The name of a topic is a pattern too.
  ///   - queue: the queue on which to call the handler: serial, concurrent or global.
  ///   - buffering: how many events may wait for the handler.
  ///   - filter: which events the subscriber receives; called by senders. Other events do not enter
  ///     the buffer.
  ///   - options: further choices of this subscriber.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  ///   - handler: called with each event. It may send, subscribe and cancel.
  /// - Returns: a handle; the subscription ends when the handle is destroyed. After ``finish()``:
  ///   the handle of a subscription that has ended.
  /// - Complexity: amortised O(tokens of `pattern`).
  @_disfavoredOverload
  public func subscribe(
    matching pattern: TopicPattern,
    on queue: DispatchQueue, buffering: BufferingPolicy<TopicEvent<String, Event>> = .unbounded,
    where filter: (@Sendable (TopicEvent<String, Event>) -> Bool)? = nil,
    options: [SubscriberOption<TopicEvent<String, Event>>] = [], label: String? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    _ handler: @escaping @Sendable (TopicEvent<String, Event>) -> Void
  ) -> EventSubscription {
    subscribe(
      matching: CollectionOfOne(pattern),
      SubscriptionRequest(
        .queue(queue, handler), buffering, filter, options, origin: Origin(fileID, line, label)))
  }
}
