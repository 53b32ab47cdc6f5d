public import Dispatch

// The overloads of `EventHub` for handlers that receive their own subscription, for one topic.

extension TopicHub {
  /// Calls `handler` with its own subscription and each event of `topic`, on the actor to which
  /// the handler belongs, or by the sender if it belongs to none.
  ///
  /// The handler can cancel the subscription, block it, or read its counts. What it receives does
  /// not keep the subscription alive: the handle that this function returns does.
  ///
  /// ```swift
  /// let subscription = quotes.subscribe(to: "tea") { subscription, price in
  ///   if price.value > 100 { subscription.cancel() }
  /// }
  /// ```
  /// In all else, such as the replay, as the function whose handler receives the event only.
  ///
  /// - Parameters:
  ///   - topic: created if it has no subscriber yet.
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
  /// - Complexity: as for that function.
  @_disfavoredOverload
  public func subscribe(
    to topic: Topic, buffering: BufferingPolicy<Event> = .unbounded,
    where filter: (@Sendable (Event) -> Bool)? = nil, options: [SubscriberOption<Event>] = [],
    isolation: isolated (any Actor)? = #isolation, label: String? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    @_inheritActorContext
    _ handler: @escaping @isolated(any) @Sendable (EventSubscription, Event) -> Void
  ) -> EventSubscription {
    let binding = SubscriptionBinding()
    return subscribe(
      to: topic,
      SubscriptionRequest(
        .isolated(handler, binding, context: isolation), buffering, filter, options,
        binding: binding, origin: Origin(fileID, line, label)))
  }

  /// Calls `handler` with its own subscription and each event of `topic`, on `queue`.
  ///
  /// The handler can cancel the subscription, block it, or read its counts. What it receives does
  /// not keep the subscription alive: the handle that this function returns does.
  ///
  /// ```swift
  /// let subscription = quotes.subscribe(to: "tea", on: queue) { subscription, price in
  ///   if price.value > 100 { subscription.cancel() }
  /// }
  /// ```
  /// In all else, such as the replay, as the function whose handler receives the event only.
  ///
  /// - Parameters:
  ///   - topic: created if it has no subscriber yet.
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
  /// - Complexity: as for that function.
  @_disfavoredOverload
  public func subscribe(
    to topic: Topic, on queue: DispatchQueue,
    buffering: BufferingPolicy<Event> = .unbounded,
    where filter: (@Sendable (Event) -> Bool)? = nil, options: [SubscriberOption<Event>] = [],
    label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    _ handler: @escaping @Sendable (EventSubscription, Event) -> Void
  ) -> EventSubscription {
    let binding = SubscriptionBinding()
    return subscribe(
      to: topic,
      SubscriptionRequest(
        .queue(queue) { handler(binding.subscription, $0) }, buffering, filter, options,
        binding: binding, origin: Origin(fileID, line, label)))
  }

  /// Awaits `handler` with its own subscription and each event of `topic`, in tasks of the hub, on
  /// the actor to which the handler belongs, if it belongs to one.
  ///
  /// The handler can cancel the subscription, block it, or read its counts. What it receives does
  /// not keep the subscription alive: the handle that this function returns does.
  ///
  /// ```swift
  /// let subscription = quotes.subscribe(to: "tea") { subscription, price in
  ///   await store(price)
  ///   if price.value > 100 { subscription.cancel() }
  /// }
  /// ```
  /// In all else, such as the replay, as the function whose handler receives the event only.
  ///
  /// - Parameters:
  ///   - topic: created if it has no subscriber yet.
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
  /// - Complexity: as for that function.
  @_disfavoredOverload
  public func subscribe(
    to topic: Topic, buffering: BufferingPolicy<Event> = .unbounded,
    where filter: (@Sendable (Event) -> Bool)? = nil, options: [SubscriberOption<Event>] = [],
    maxConcurrentCalls: Int = 1, isolation: isolated (any Actor)? = #isolation,
    label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    @_inheritActorContext
    _ handler: @escaping @isolated(any) @Sendable (EventSubscription, Event) async -> Void
  ) -> EventSubscription {
    let binding = SubscriptionBinding()
    return subscribe(
      to: topic,
      SubscriptionRequest(
        .isolated(limit: maxConcurrentCalls, handler, binding, context: isolation), buffering,
        filter, options,
        binding: binding, origin: Origin(fileID, line, label)))
  }
}
