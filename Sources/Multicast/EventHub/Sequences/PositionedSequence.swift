/// The events of a hub with their positions, returned by
/// ``EventHub/events(from:where:label:fileID:line:)``.
///
/// The first iterator takes over the subscription that began with the sequence; each later one
/// begins a new one, at the same start. A subscription ends as that of an ``EventSequence`` does.
/// What an iterator has read, at most 256 events, is not missed any more. A consumer that always
/// finds an event yields before it has had 512.
///
/// ## Thread safety
/// As ``EventSequence``.
public struct PositionedSequence<Event: Sendable>: AsyncSequence, Sendable, Unreflected {
  /// An event with its position, or a range of missed events.
  public typealias Element = PositionedEvent<Event>
  /// An iteration throws nothing.
  public typealias Failure = Never

  let source: EventSource

  /// An iterator: the first has the subscription of the sequence, each later one a new one.
  ///
  /// - Returns: the iterator.
  /// - Complexity: O(1) for the first one. Each later one subscribes, which costs what the call
  ///   that returned the sequence did.
  public func makeAsyncIterator() -> Iterator {
    Iterator(consumer: source.take())
  }

  /// An iterator over events with positions.
  public struct Iterator: AsyncIteratorProtocol, Unreflected {
    @usableFromInline let consumer: EventConsumer
    /// `nil` if the hub no longer existed.
    @usableFromInline let cursor: LogCursor?
    @usableFromInline let filter: (@Sendable (Event) -> Bool)?
    /// The number of events that were read since the consumer last yielded.
    private var readSinceYield = 0

    init(consumer: EventConsumer) {
      self.consumer = consumer
      // SAFETY: only `EventHub.consumer(_:from:origin:)` sets it, with a reader of this type.
      let reader = consumer.reader.map {
        unsafeDowncast($0 as AnyObject, to: LogReader<Event>.self)
      }
      cursor = reader
      filter = reader?.filter
    }

    private var reader: LogReader<Event>? {
      // SAFETY: as above.
      cursor.map { unsafeDowncast($0, to: LogReader<Event>.self) }
    }

    /// See ``EventSequence/Iterator/end``.
    ///
    /// - Complexity: O(1).
    public var end: SubscriptionEnd? { consumer.mailbox.end }

    /// The next event or missing range, or `nil` at the end or if the task is cancelled.
    ///
    /// - Returns: the event or range, or `nil` at the end.
    /// - Complexity: amortised O(1) for each event that it reads, including those that `filter`
    ///   excludes, and the wait. With keys, each read also searches in O(log events).
    @inlinable
    public mutating func next() async -> Element? {
      await next(isolation: #isolation)
    }

    /// The next event or missing range, or `nil` at the end or if the task is cancelled.
    ///
    /// - Parameter actor: the isolation of the caller.
    /// - Returns: the event or range, or `nil` at the end.
    /// - Complexity: amortised O(1) for each event that it reads, including those that `filter`
    ///   excludes, and the wait. With keys, each read also searches in O(log events).
    @inlinable
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      while let cursor, let item = consumer.nextItem(cursor) {
        let event = item.envelope.event(Event.self)
        if filter?(event) ?? true {
          return .event(event, at: EventPosition(epoch: cursor.epoch, number: item.number))
        }
      }
      return await readNext(isolation: actor)
    }

    /// Reads the next events, and returns the first one.
    @usableFromInline
    mutating func readNext(isolation actor: isolated (any Actor)?) async -> Element? {
      guard let reader else {
        await Task.yieldAfterMany()
        return nil
      }
      return await consumer.next(reader, &readSinceYield)
    }

    /// See ``EventConsumer/prepareRead(_:_:share:isolation:)``.
    ///
    /// - Parameter limit: the most events of a batch. As many batches are read as have space in one
    ///   read.
    @usableFromInline
    mutating func prepareRead(
      batchesUpTo limit: Int, isolation actor: isolated (any Actor)?
    ) async -> Bool {
      guard let reader else {
        await Task.yieldAfterMany()
        return false
      }
      let most = EventConsumer.readShare
      let share = limit < most ? most - most % limit : most
      return await consumer.prepareRead(reader, &readSinceYield, share: share)
    }
  }
}
