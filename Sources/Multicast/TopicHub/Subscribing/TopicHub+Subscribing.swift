public import Dispatch

// The overloads of `subscribe` of a hub, for one topic.
//
// The compiler needs each form written out. So the same parameters stand in three families of
// files: `+Subscribing` for one topic, `+SubscribingPattern` for one pattern, and
// `+SubscribingPatterns` for several. In each, the file without a suffix has the handlers of a hub;
// `Owners` has those that end with an object, `Self` those that receive their own subscription, and
// `From` those that receive positions, of any number of topics or of patterns. The tests in
// `Overloads` call every form.

extension TopicHub {
  /// Calls `handler` on its actor with each event of `topic` from now on. See the same function of
  /// ``EventHub``.
  ///
  /// - Parameters:
  ///   - topic: created if it has no subscriber yet.
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
  /// - Complexity: amortised O(1). Each time the number of topics has doubled, the next topic's
  ///   creation removes subscribers whose owners are gone: O(subscribers of all topics).
  public func subscribe(
    to topic: Topic,
    buffering: BufferingPolicy<Event> = .unbounded,
    where filter: (@Sendable (Event) -> Bool)? = nil, options: [SubscriberOption<Event>] = [],
    isolation: isolated (any Actor)? = #isolation, label: String? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (Event) -> Void
  ) -> EventSubscription {
    subscribe(
      to: topic,
      SubscriptionRequest(
        .isolated(handler, context: isolation), buffering, filter, options,
        origin: Origin(fileID, line, label)))
  }

  /// Awaits `handler` with each event of `topic` from now on. See the same function of
  /// ``EventHub``.
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
  ///   - handler: called with each event. It may send, subscribe and cancel.
  /// - Returns: a handle; the subscription ends when the handle is destroyed. After ``finish()``:
  ///   the handle of a subscription that has ended.
  /// - Precondition: `maxConcurrentCalls` is at least 1.
  /// - Complexity: amortised O(1), as for every subscription to a topic.
  public func subscribe(
    to topic: Topic,
    buffering: BufferingPolicy<Event> = .unbounded,
    where filter: (@Sendable (Event) -> Bool)? = nil, options: [SubscriberOption<Event>] = [],
    maxConcurrentCalls: Int = 1, isolation: isolated (any Actor)? = #isolation,
    label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (Event) async -> Void
  ) -> EventSubscription {
    subscribe(
      to: topic,
      SubscriptionRequest(
        .isolated(limit: maxConcurrentCalls, handler, context: isolation), buffering, filter,
        options, origin: Origin(fileID, line, label))
    )
  }

  /// Calls `handler` on the thread that sends with each event of `topic` from now on. See the same
  /// function of ``EventHub``.
  ///
  /// - Parameters:
  ///   - topic: created if it has no subscriber yet.
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
  /// - Complexity: amortised O(1), as for every subscription to a topic.
  public func subscribe(
    to topic: Topic,
    on sender: SenderPlace, where filter: (@Sendable (Event) -> Bool)? = nil,
    options: [SubscriberOption<Event>] = [], label: String? = nil, fileID: StaticString = #fileID,
    line: UInt = #line, _ handler: @escaping @Sendable (Event) -> Void
  ) -> EventSubscription {
    withHub(of: topic) {
      $0.subscribe(
        on: sender, where: filter, options: options, label: label, fileID: fileID, line: line,
        handler)
    }
  }

  /// Calls `handler` on the main actor with each event of `topic` from now on. See the same
  /// function of ``EventHub``.
  ///
  /// - Parameters:
  ///   - topic: created if it has no subscriber yet.
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
  /// - Complexity: amortised O(1), as for every subscription to a topic.
  public func subscribe(
    to topic: Topic,
    on main: MainActorPlace, buffering: BufferingPolicy<Event> = .unbounded,
    where filter: (@Sendable (Event) -> Bool)? = nil, options: [SubscriberOption<Event>] = [],
    label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    _ handler: @escaping @MainActor @Sendable (Event) -> Void
  ) -> EventSubscription {
    subscribe(
      to: topic,
      SubscriptionRequest(
        .isolated(handler, context: nil), buffering, filter, options,
        origin: Origin(fileID, line, label)))
  }

  /// Calls `handler` on `queue` with each event of `topic` from now on. See the same function of
  /// ``EventHub``.
  ///
  /// - Parameters:
  ///   - topic: created if it has no subscriber yet.
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
  /// - Complexity: amortised O(1), as for every subscription to a topic.
  @_disfavoredOverload
  public func subscribe(
    to topic: Topic,
    on queue: DispatchQueue, buffering: BufferingPolicy<Event> = .unbounded,
    where filter: (@Sendable (Event) -> Bool)? = nil, options: [SubscriberOption<Event>] = [],
    label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    _ handler: @escaping @Sendable (Event) -> Void
  ) -> EventSubscription {
    subscribe(
      to: topic,
      SubscriptionRequest(
        .queue(queue, handler), buffering, filter, options, origin: Origin(fileID, line, label)))
  }
}
