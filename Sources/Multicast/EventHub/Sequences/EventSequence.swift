/// The events of a hub as an asynchronous sequence, returned by `events`.
///
/// The subscription begins with `events`, and the first iterator takes it over. It ends when the
/// iterator is destroyed, or the sequence if it never had an iterator; when the iterating task is
/// cancelled; and, after the events that wait, when the hub finishes or a full buffer disconnects
/// the sequence. Each later iterator begins a new subscription, with the replay and the events from
/// then on. A consumer that always finds an event yields after at most 64. ``batches(upTo:)``
/// returns many events at once.
///
/// ## Thread safety
/// The sequence may be used from any thread. An iterator belongs to one task, or to an actor. If
/// several tasks of an actor await the next event of one iterator, one of them receives it; at the
/// end, and if one of them is cancelled, which ends the subscription, all receive `nil`.
public struct EventSequence<Event: Sendable>: AsyncSequence, Sendable, Unreflected {
  /// An event of the hub.
  public typealias Element = Event
  /// An iteration throws nothing.
  public typealias Failure = Never

  let source: EventSource

  /// - Parameters:
  ///   - completion: how the hub has finished, if it has.
  ///   - subscribe: begins a subscription; `nil` if the hub no longer exists.
  init(_ completion: Completion, _ subscribe: @escaping @Sendable () -> EventConsumer?) {
    source = EventSource(completion, subscribe)
  }

  /// An iterator: the first has the subscription of the sequence, each later one a new one.
  ///
  /// - Returns: the iterator.
  /// - Complexity: O(1) for the first one. Each later one subscribes, which costs what the call
  ///   that returned the sequence did.
  public func makeAsyncIterator() -> Iterator {
    Iterator(consumer: source.take())
  }

  /// The same events, with the number of dropped events at each point where events were dropped.
  ///
  /// ```swift
  /// let prices = hub.events(buffering: .bounded(10, whenFull: .dropOldest))
  /// for await element in prices.notingDrops() {
  ///   switch element {
  ///   case .event(let event): show(event)
  ///   case .dropped(let count): warn("\(count) events dropped")
  ///   }
  /// }
  /// ```
  ///
  /// - Returns: the sequence, with the same subscription.
  /// - Complexity: O(1).
  public func notingDrops() -> Noting {
    Noting(source: source)
  }
}

extension EventSequence {
  /// An iterator over the events of a hub.
  public struct Iterator: AsyncIteratorProtocol, Unreflected {
    @usableFromInline let consumer: EventConsumer

    /// Why the subscription has ended, or `nil` while it is active. Waiting events are still
    /// delivered after the end, unless it was cancelled.
    ///
    /// - Complexity: O(1).
    public var end: SubscriptionEnd? { consumer.mailbox.end }

    /// Counts of what happened to the events of this iteration. An event counts as delivered when
    /// ``next()`` has returned it.
    ///
    /// - Complexity: O(1).
    public var statistics: DeliveryStatistics { consumer.mailbox.statistics }

    /// The next event, or `nil` at the end or if the task is cancelled.
    ///
    /// - Returns: the event, or `nil` at the end.
    /// - Complexity: amortised O(1), and the wait.
    @inlinable
    public func next() async -> Event? {
      await next(isolation: #isolation)
    }

    /// The next event, or `nil` at the end or if the task is cancelled.
    ///
    /// - Parameter actor: the isolation of the caller.
    /// - Returns: the event, or `nil` at the end.
    /// - Complexity: amortised O(1), and the wait.
    @inlinable
    public func next(isolation actor: isolated (any Actor)?) async -> Event? {
      if let event = takenEvent() { return event }
      return await waitForEvent()
    }

    // Neither of these is inlined: Swift 6.3 crashes when it optimises a `for await` loop at the
    // top level of a program into which they are inlined ("Found over consume").

    /// The next of the events that were taken, if there is one.
    @inlinable @inline(never)
    func takenEvent() -> Event? { consumer.nextTaken()?.event(Event.self) }

    @inlinable @inline(never)
    func waitForEvent() async -> Event? {
      await consumer.next()?.event(Event.self)
    }
  }

  /// An event, or the number of events dropped before the next one.
  public enum Noted: Sendable {
    /// An event, as in the plain sequence.
    case event(Event)
    /// The number of events dropped at this point.
    case dropped(Int)
  }

  /// The events of a hub, with the number of dropped events wherever events were dropped.
  public struct Noting: AsyncSequence, Sendable, Unreflected {
    /// An event, or a number of dropped events.
    public typealias Element = Noted
    /// An iteration throws nothing.
    public typealias Failure = Never

    let source: EventSource

    /// See ``EventSequence/makeAsyncIterator()``; the subscription is the same.
    ///
    /// - Returns: the iterator.
    /// - Complexity: O(1) for the first one. Each later one subscribes, which costs what the call
    ///   that returned the sequence did.
    public func makeAsyncIterator() -> Iterator {
      Iterator(consumer: source.take())
    }

    /// An iterator over events and numbers of dropped events.
    public struct Iterator: AsyncIteratorProtocol, Unreflected {
      fileprivate let consumer: EventConsumer

      /// See ``EventSequence/Iterator/end``.
      ///
      /// - Complexity: O(1).
      public var end: SubscriptionEnd? { consumer.mailbox.end }

      /// See ``EventSequence/Iterator/statistics``.
      ///
      /// - Complexity: O(1).
      public var statistics: DeliveryStatistics { consumer.mailbox.statistics }

      fileprivate init(consumer: EventConsumer) {
        self.consumer = consumer
      }

      /// The next event or number, or `nil` at the end or if the task is cancelled.
      ///
      /// - Returns: the event or number, or `nil` at the end.
      /// - Complexity: amortised O(1), and the wait.
      public mutating func next() async -> Noted? {
        await next(isolation: #isolation)
      }

      /// The next event or number, or `nil` at the end or if the task is cancelled.
      ///
      /// - Parameter actor: the isolation of the caller.
      /// - Returns: the event or number, or `nil` at the end.
      /// - Complexity: amortised O(1), and the wait.
      public mutating func next(isolation actor: isolated (any Actor)?) async -> Noted? {
        switch await consumer.nextElement() {
        case .event(let event): .event(event.event(Event.self))
        case .dropped(let count): .dropped(count)
        case nil: nil
        }
      }
    }
  }
}
