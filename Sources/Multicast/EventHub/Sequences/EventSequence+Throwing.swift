extension EventSequence {
  /// The same events; after the last one, the error with which the hub has finished is thrown.
  ///
  /// ```swift
  /// for try await price in hub.events().throwingFailure() { show(price) }
  /// // hub.finish(throwing: error): the loop shows what waits, and throws the error
  /// ```
  ///
  /// - Returns: the sequence, with the same subscription.
  /// - Complexity: O(1).
  public func throwingFailure() -> Throwing {
    Throwing(source: source)
  }

  /// The events of a hub, and then the error of ``EventHub/finish(throwing:)``, if there is one.
  ///
  /// The sequence ends without an error if the hub finishes without one, if the task is cancelled,
  /// or if a full buffer disconnects the sequence.
  public struct Throwing: AsyncSequence, Sendable, Unreflected {
    /// An event of the hub.
    public typealias Element = Event
    /// The error of the hub: see ``EventSequence/throwingFailure()``.
    public typealias Failure = any Error

    fileprivate let source: EventSource

    /// See ``EventSequence/makeAsyncIterator()``; the subscription is the same.
    ///
    /// - Returns: the iterator.
    /// - Complexity: O(1) for the first one. Each later one subscribes, which costs what the call
    ///   that returned the sequence did.
    public func makeAsyncIterator() -> Iterator {
      Iterator(consumer: source.take())
    }

    /// An iterator over events that throws the error of the hub at the end.
    public struct Iterator: AsyncIteratorProtocol, Unreflected {
      fileprivate let consumer: EventConsumer
      private var hasThrown = false

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

      /// The next event, or `nil` at the end or if the task is cancelled. Throws the error of the
      /// hub once, in place of the first `nil`.
      ///
      /// - Returns: the event, or `nil` at the end.
      /// - Throws: the error with which the hub has finished, once, after the last event.
      /// - Complexity: amortised O(1), and the wait.
      public mutating func next() async throws -> Event? {
        try await next(isolation: #isolation)
      }

      /// The next event, or `nil` at the end or if the task is cancelled. Throws the error of the
      /// hub once, in place of the first `nil`.
      ///
      /// - Parameter actor: the isolation of the caller.
      /// - Returns: the event, or `nil` at the end.
      /// - Throws: the error with which the hub has finished, once, after the last event.
      /// - Complexity: amortised O(1), and the wait.
      public mutating func next(
        isolation actor: isolated (any Actor)?
      ) async throws(any Error) -> Event? {
        if let item = consumer.nextTaken() { return item.event(Event.self) }
        if let item = await consumer.next() { return item.event(Event.self) }
        guard !hasThrown, let failure = consumer.failure else { return nil }
        hasThrown = true
        throw failure
      }
    }
  }
}
