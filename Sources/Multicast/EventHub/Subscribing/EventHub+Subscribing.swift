public import Dispatch

// One overload of `subscribe` for each place where a handler can be called. The place is an
// argument, or the isolation of the handler.

extension EventHub {
  /// Calls `handler` with the replay, if the hub has one, and with each event from then on, on the
  /// actor to which the handler belongs.
  ///
  /// The handler belongs to the actor on which you write it, as the closure of a `Task` does,
  /// unless it names another one, such as `{ @MainActor price in … }`. It may use the state of that
  /// actor. It is always called in a later turn of the actor, never inside `send`, in the order of
  /// each sender. A burst of events wakes the actor once. Calls that take longer than 100
  /// microseconds together, and at least 64, let other work of the actor run between them.
  ///
  /// A function of no actor, such as a `nonisolated` one or one in a variable, is called on the
  /// actor that calls this. Where no actor calls this either, senders call the handler, inside
  /// `send`, as with `on: .sender`.
  ///
  /// ```swift
  /// @MainActor final class Board {
  ///   var last: [Symbol: Double] = [:]
  ///   private var subscription: EventSubscription?
  ///
  ///   func follow(_ prices: EventHub<Price>) {
  ///     subscription = prices.subscribe { [weak self] price in
  ///       self?.last[price.symbol] = price.value  // on the main actor
  ///     }
  ///   }
  /// }
  /// ```
  /// The hub does not keep the actor alive, but a handler that uses `self` does. In an actor write
  /// `subscribe(with: self)`; in a class of the main actor write that, or `[weak self]`. If the
  /// actor is gone, the subscription ends at the next event.
  ///
  /// - Parameters:
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
  ///   the handler receives the replay, and the subscription ends.
  /// - Complexity: amortised O(1), and O(replay).
  public func subscribe(
    buffering: BufferingPolicy<Event> = .unbounded,
    where filter: (@Sendable (Event) -> Bool)? = nil, options: [SubscriberOption<Event>] = [],
    isolation: isolated (any Actor)? = #isolation, label: String? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (Event) -> Void
  ) -> EventSubscription {
    if handler.isolation == nil && isolation == nil && filter == nil && options.isEmpty,
      let subscription = subscribeDirectly(
        IsolatedHandler(function: handler).withoutIsolation, origin: Origin(fileID, line, label))
    {
      return subscription
    }
    return subscribe(
      .init(
        .isolated(handler, context: isolation), buffering, filter, options,
        origin: Origin(fileID, line, label)))
  }

  /// Awaits `handler` with the replay, if the hub has one, and with each event from then on.
  ///
  /// The calls run in tasks of the hub, on the actor to which the handler belongs, if it belongs to
  /// one: see <doc:Isolation>. Ending the subscription does not cancel a call that is running.
  ///
  /// - Parameters:
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
  ///   the handler receives the replay, and the subscription ends.
  /// - Precondition: `maxConcurrentCalls` is at least 1.
  /// - Complexity: amortised O(1), and O(replay).
  public func subscribe(
    buffering: BufferingPolicy<Event> = .unbounded,
    where filter: (@Sendable (Event) -> Bool)? = nil, options: [SubscriberOption<Event>] = [],
    maxConcurrentCalls: Int = 1, isolation: isolated (any Actor)? = #isolation,
    label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (Event) async -> Void
  ) -> EventSubscription {
    subscribe(
      .init(
        .isolated(limit: maxConcurrentCalls, handler, context: isolation), buffering, filter,
        options, origin: Origin(fileID, line, label)))
  }

  /// Calls `handler` with the replay, if the hub has one, and with each event from then on, on the
  /// thread that sends, inside `send`.
  ///
  /// In a hub with a replay, the handler is called with the replay before this returns, and then by
  /// one sender at a time, which also delivers what others send in the meantime.
  ///
  /// - Parameters:
  ///   - sender: `.sender`. Code that belongs to no actor may leave it out.
  ///   - filter: which events the subscriber receives; called by senders.
  ///   - options: further choices of this subscriber.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  ///   - handler: called with each event, by many threads at once if many send. It may send,
  ///     subscribe and cancel.
  /// - Returns: a handle; the subscription ends when the handle is destroyed. After ``finish()``:
  ///   the handler receives the replay, and the subscription ends.
  /// - Complexity: amortised O(1), and O(replay).
  public func subscribe(
    on sender: SenderPlace, where filter: (@Sendable (Event) -> Bool)? = nil,
    options: [SubscriberOption<Event>] = [], label: String? = nil, fileID: StaticString = #fileID,
    line: UInt = #line, _ handler: @escaping @Sendable (Event) -> Void
  ) -> EventSubscription {
    if filter == nil && options.isEmpty,
      let subscription = subscribeDirectly(handler, origin: Origin(fileID, line, label))
    {
      return subscription
    }
    return subscribe(
      .init(.sender(handler), .unbounded, filter, options, origin: Origin(fileID, line, label)))
  }

  /// Calls `handler` on the main actor, wherever this is called. See <doc:Isolation>.
  ///
  /// - Parameters:
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
  ///   the handler receives the replay, and the subscription ends.
  /// - Complexity: amortised O(1), and O(replay).
  public func subscribe(
    on main: MainActorPlace, buffering: BufferingPolicy<Event> = .unbounded,
    where filter: (@Sendable (Event) -> Bool)? = nil, options: [SubscriberOption<Event>] = [],
    label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    _ handler: @escaping @MainActor @Sendable (Event) -> Void
  ) -> EventSubscription {
    subscribe(
      .init(
        .isolated(handler, context: nil), buffering, filter, options,
        origin: Origin(fileID, line, label)))
  }

  /// Calls `handler` on `queue` with the replay, if the hub has one, and with each event from then
  /// on: one event at a time, in the order of each sender, even if the queue is concurrent.
  ///
  /// - Parameters:
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
  ///   the handler receives the replay, and the subscription ends.
  /// - Complexity: amortised O(1), and O(replay).
  @_disfavoredOverload
  public func subscribe(
    on queue: DispatchQueue, buffering: BufferingPolicy<Event> = .unbounded,
    where filter: (@Sendable (Event) -> Bool)? = nil, options: [SubscriberOption<Event>] = [],
    label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    _ handler: @escaping @Sendable (Event) -> Void
  ) -> EventSubscription {
    subscribe(
      .init(.queue(queue, handler), buffering, filter, options, origin: Origin(fileID, line, label))
    )
  }
}
