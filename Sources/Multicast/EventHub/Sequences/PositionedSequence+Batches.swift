extension PositionedSequence {
  /// The same events, as many at once as the consumer finds: for a consumer that handles many
  /// events together, or for which the cost of each matters.
  ///
  /// ```swift
  /// for await batch in chat.events(from: .after(saved)).batches(upTo: 256) {
  ///   await database.insert(batch.events, through: batch.position)
  /// }
  /// ```
  /// With many consumers and many events this is the cheapest way to consume the events of a hub
  /// in tasks: a sender stores an event once, and tells only those consumers of it that have read
  /// since they were last told.
  ///
  /// - Parameter limit: the most events of a batch.
  /// - Returns: the batches, of the same subscription.
  /// - Precondition: `limit` is at least 1.
  /// - Complexity: O(1).
  public func batches(upTo limit: Int) -> Batches {
    requireBatchLimit(limit)
    return Batches(source: source, limit: limit)
  }

  /// The events of a hub in batches, with their positions.
  ///
  /// A batch has what the consumer finds when it reads, in order, up to the limit, and never more
  /// than 256 events. It has an event, or says what was missed. The events of a batch, and those
  /// that were read with it and will be in later ones, are not missed any more. They count as
  /// handled when everything that was read together was returned and more is requested, or when the
  /// iteration ends. The batches end as the sequence does. A consumer that always finds one yields
  /// before it has had 512 events.
  public struct Batches: AsyncSequence, Sendable, Unreflected {
    /// Events, and what was missed before them.
    public typealias Element = PositionedBatch<Event>
    /// An iteration throws nothing.
    public typealias Failure = Never

    fileprivate let source: EventSource
    fileprivate let limit: Int

    /// See ``PositionedSequence/makeAsyncIterator()``; the subscription is the same.
    ///
    /// - Returns: the iterator.
    /// - Complexity: O(1) for the first one. Each later one subscribes, which costs what the call
    ///   that returned the sequence did.
    public func makeAsyncIterator() -> Iterator {
      Iterator(PositionedSequence.Iterator(consumer: source.take()), limit: limit)
    }

    /// An iterator over batches of events with positions.
    public struct Iterator: AsyncIteratorProtocol, Unreflected {
      @usableFromInline var events: PositionedSequence.Iterator
      @usableFromInline let limit: Int

      fileprivate init(_ events: PositionedSequence.Iterator, limit: Int) {
        self.events = events
        self.limit = limit
      }

      /// See ``EventSequence/Iterator/end``.
      ///
      /// - Complexity: O(1).
      public var end: SubscriptionEnd? { events.end }

      /// The next events, or `nil` at the end or if the task is cancelled.
      ///
      /// - Returns: the batch, which has an event or says what was missed; `nil` at the end.
      /// - Complexity: amortised O(1) for each event that it reads, including those that the filter
      ///   of the sequence excludes, and the wait. With keys, each read also searches in
      ///   O(log events).
      @inlinable
      public mutating func next() async -> PositionedBatch<Event>? {
        await next(isolation: #isolation)
      }

      /// The next events, or `nil` at the end or if the task is cancelled.
      ///
      /// - Parameter actor: the isolation of the caller.
      /// - Returns: the batch, which has an event or says what was missed; `nil` at the end.
      /// - Complexity: as ``next()``.
      @inlinable
      public mutating func next(
        isolation actor: isolated (any Actor)?
      ) async -> PositionedBatch<Event>? {
        while await events.prepareRead(batchesUpTo: limit, isolation: actor),
          let cursor = events.cursor
        {
          let batch = PositionedBatch(taking: limit, from: cursor, where: events.filter)
          // Another task of the same actor may have taken what was read, or the filter excludes
          // all.
          if batch.missed != nil || !batch.events.isEmpty { return batch }
        }
        return nil
      }
    }
  }
}
