extension EventSequence {
  /// The same events, as many at once as wait: for a consumer that handles many events together, or
  /// for which the cost of each matters.
  ///
  /// ```swift
  /// for await prices in hub.events().batches(upTo: 256) { database.insert(prices) }
  /// ```
  ///
  /// - Parameter limit: the most events of a batch.
  /// - Returns: the batches, of the same subscription.
  /// - Precondition: `limit` is at least 1.
  /// - Complexity: O(1).
  public func batches(upTo limit: Int) -> Batches {
    requireBatchLimit(limit)
    return Batches(source: source, limit: limit)
  }

  /// The events of a hub in arrays.
  ///
  /// A batch has the events that wait when it is taken, in order, up to the limit; while a flush
  /// waits, only those that were sent before it. It is never empty: the consumer waits for an
  /// event, and then gets what has come by then. The batches end as the sequence does.
  ///
  /// The events of a batch have left the buffer: they are not dropped any more, and a sender that
  /// waited may send. They count as delivered when they are returned, and a flush has them handled
  /// when the next batch is requested, or the iteration ends. A consumer that always finds a batch
  /// yields after at most 64.
  public struct Batches: AsyncSequence, Sendable, Unreflected {
    /// Events that waited, in order.
    public typealias Element = [Event]
    /// An iteration throws nothing.
    public typealias Failure = Never

    fileprivate let source: EventSource
    fileprivate let limit: Int

    /// The same batches, with the number of dropped events at each point where events were dropped.
    ///
    /// - Returns: the batches, of the same subscription.
    /// - Complexity: O(1).
    public func notingDrops() -> NotingBatches {
      NotingBatches(source: source, limit: limit)
    }

    /// See ``EventSequence/makeAsyncIterator()``; the subscription is the same.
    ///
    /// - Returns: the iterator.
    /// - Complexity: O(1) for the first one. Each later one subscribes, which costs what the call
    ///   that returned the sequence did.
    public func makeAsyncIterator() -> Iterator {
      Iterator(consumer: source.take(), limit: limit)
    }

    /// An iterator over batches of events.
    public struct Iterator: AsyncIteratorProtocol, Unreflected {
      @usableFromInline let consumer: EventConsumer
      @usableFromInline let limit: Int

      fileprivate init(consumer: EventConsumer, limit: Int) {
        self.consumer = consumer
        self.limit = limit
      }

      /// See ``EventSequence/Iterator/end``.
      ///
      /// - Complexity: O(1).
      public var end: SubscriptionEnd? { consumer.mailbox.end }

      /// See ``EventSequence/Iterator/statistics``.
      ///
      /// - Complexity: O(1).
      public var statistics: DeliveryStatistics { consumer.mailbox.statistics }

      /// The next events, or `nil` at the end or if the task is cancelled.
      ///
      /// - Returns: the events, never none, or `nil` at the end.
      /// - Complexity: O(events in the batch), and the wait.
      @inlinable
      public func next() async -> [Event]? {
        await next(isolation: #isolation)
      }

      /// The next events, or `nil` at the end or if the task is cancelled.
      ///
      /// - Parameter actor: the isolation of the caller.
      /// - Returns: the events, never none, or `nil` at the end.
      /// - Complexity: O(events in the batch), and the wait.
      @inlinable
      public func next(isolation actor: isolated (any Actor)?) async -> [Event]? {
        while await consumer.prepareBatch(limit) {
          // Another task of the same actor may have taken the events.
          let count = consumer.takenCount
          guard count > 0 else { continue }
          return [Event](unsafeUninitializedCapacity: count) { events, initializedCount in
            consumer.moveTaken { envelope, offset in
              // SAFETY: called once for each offset below `count`.
              (events.baseAddress! + offset).initialize(to: envelope.event(Event.self))
            }
            initializedCount = count
          }
        }
        return nil
      }
    }
  }

  /// The events of a hub in arrays, with the number of dropped events wherever events were dropped.
  public struct NotingBatches: AsyncSequence, Sendable, Unreflected {
    /// Events that waited, in order, with the numbers of dropped ones.
    public typealias Element = [Noted]
    /// An iteration throws nothing.
    public typealias Failure = Never

    fileprivate let source: EventSource
    fileprivate let limit: Int

    /// See ``EventSequence/makeAsyncIterator()``; the subscription is the same.
    ///
    /// - Returns: the iterator.
    /// - Complexity: O(1) for the first one. Each later one subscribes, which costs what the call
    ///   that returned the sequence did.
    public func makeAsyncIterator() -> Iterator {
      Iterator(consumer: source.take(), limit: limit)
    }

    /// An iterator over batches of events and numbers of dropped events.
    public struct Iterator: AsyncIteratorProtocol, Unreflected {
      fileprivate let consumer: EventConsumer
      fileprivate let limit: Int

      /// See ``EventSequence/Iterator/end``.
      ///
      /// - Complexity: O(1).
      public var end: SubscriptionEnd? { consumer.mailbox.end }

      /// See ``EventSequence/Iterator/statistics``.
      ///
      /// - Complexity: O(1).
      public var statistics: DeliveryStatistics { consumer.mailbox.statistics }

      /// The next events and numbers, or `nil` at the end or if the task is cancelled.
      ///
      /// - Returns: the events and numbers, never none, or `nil` at the end.
      /// - Complexity: O(events in the batch), and the wait.
      public func next() async -> [Noted]? {
        await next(isolation: #isolation)
      }

      /// The next events and numbers, or `nil` at the end or if the task is cancelled. The limit is
      /// for the events. The number of events dropped after the last event comes alone.
      ///
      /// - Parameter actor: the isolation of the caller.
      /// - Returns: the events and numbers, never none, or `nil` at the end.
      /// - Complexity: O(events in the batch), and the wait.
      public func next(isolation actor: isolated (any Actor)?) async -> [Noted]? {
        while await consumer.prepareBatch(limit) {
          var elements: [Noted] = []
          consumer.moveTaken { dropped in
            elements.append(.dropped(dropped))
          } events: { envelope, _ in
            elements.append(.event(envelope.event(Event.self)))
          }
          if !elements.isEmpty { return elements }
        }
        return consumer.takeDroppedAtEnd().map { [.dropped($0)] }
      }
    }
  }
}

extension EventSequence.Noting {
  /// The same events and numbers, as many at once as wait: see ``EventSequence/batches(upTo:)``.
  ///
  /// - Parameter limit: the most events of a batch.
  /// - Returns: the batches, of the same subscription.
  /// - Precondition: `limit` is at least 1.
  /// - Complexity: O(1).
  public func batches(upTo limit: Int) -> EventSequence.NotingBatches {
    requireBatchLimit(limit)
    return EventSequence.NotingBatches(source: source, limit: limit)
  }
}

/// - Precondition: `limit` is at least 1.
func requireBatchLimit(_ limit: Int) {
  require(
    limit >= 1,
    "Multicast: a batch of up to \(limit) events would be empty; use a limit of at least 1.")
}
