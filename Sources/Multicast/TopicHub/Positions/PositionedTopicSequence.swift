/// The events of topics with their positions, returned by
/// ``TopicHub/events(for:from:buffering:label:fileID:line:)-(String,_,_,_,_,_)``.
///
/// The first iterator takes over the subscription that began with the sequence; each later one
/// begins a new one, at the same start. A subscription ends as that of an ``EventSequence`` does.
/// What an iterator has read, at most 256 events, is not missed any more. A consumer that always
/// finds an event or a missing range yields before it has had 512.
///
/// ## Thread safety
/// As ``EventSequence``; of a hub with an external log, an iterator is for one task.
public struct PositionedTopicSequence<Event: Sendable>: AsyncSequence, Sendable, Unreflected {
  /// An event with its topic and position, or a range of missed events.
  public typealias Element = PositionedTopicEvent<Event>
  /// An iteration throws nothing.
  public typealias Failure = Never

  private let source: EventSource
  private let retention: TopicRetention<Event>

  init(source: EventSource, _ retention: TopicRetention<Event>) {
    self.source = source
    self.retention = retention
  }

  /// An iterator: the first has the subscription of the sequence, each later one a new one.
  ///
  /// - Returns: the iterator.
  /// - Complexity: O(1) for the first one. Each later one subscribes, which costs what the call
  ///   that returned the sequence did.
  public func makeAsyncIterator() -> Iterator {
    Iterator(consumer: source.take(), retention)
  }

  /// An iterator over events with positions.
  public struct Iterator: AsyncIteratorProtocol, Unreflected {
    @usableFromInline let consumer: EventConsumer
    /// `nil` if the hub no longer existed.
    @usableFromInline let reader: TopicLogReader?
    private let retention: TopicRetention<Event>
    /// The number of events that were read since the consumer last yielded, and of the requests of
    /// pages and the missing ranges.
    private var readSinceYield = 0
    private var hasBegun = false
    /// Whether what the reader has read is not the next to be returned: before the first call, and
    /// while events come from an external log.
    @usableFromInline var isElsewhere = true
    /// What comes from an external log, before what the reader reads.
    private var replay: ExternalReplay<Event>?
    /// What is missing in `replay`.
    private var rest: ArraySlice<MissingEvents> = []

    fileprivate init(consumer: EventConsumer, _ retention: TopicRetention<Event>) {
      self.consumer = consumer
      self.retention = retention
      // SAFETY: only `TopicHub.sequence` sets it, with a reader of this type.
      reader = consumer.reader.map { unsafeDowncast($0 as AnyObject, to: TopicLogReader.self) }
    }

    /// See ``EventSequence/Iterator/end``.
    ///
    /// - Complexity: O(1).
    public var end: SubscriptionEnd? {
      reader.map { $0.end(consumer.mailbox.end) } ?? consumer.mailbox.end
    }

    /// The next event or missing range, or `nil` at the end or if the task is cancelled.
    ///
    /// - Returns: the event or range, or `nil` at the end.
    /// - Complexity: for each read, O(events) for one topic, O(events × topics) for several, and
    ///   O(all retained events after the last position) for patterns; and the wait.
    @inlinable
    public mutating func next() async -> Element? {
      await next(isolation: #isolation)
    }

    /// The next event or missing range, or `nil` at the end or if the task is cancelled.
    ///
    /// - Parameter actor: the isolation of the caller.
    /// - Returns: the event or range, or `nil` at the end.
    /// - Complexity: for each read, O(events) for one topic, O(events × topics) for several, and
    ///   O(all retained events after the last position) for patterns; and the wait.
    @inlinable
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      if !isElsewhere, let reader, let item = consumer.nextEvent(reader) {
        return PositionedTopicEvent(item, epoch: reader.epoch)
      }
      return await readNext(isolation: actor)
    }

    /// Waits for the next events, and returns the first one, or what comes before it.
    @usableFromInline
    mutating func readNext(isolation actor: isolated (any Actor)?) async -> Element? {
      guard let reader else {
        await Task.yieldAfterMany()
        return nil
      }
      defer { isElsewhere = replay != nil || !rest.isEmpty }
      if !hasBegun {
        hasBegun = true
        if reader.hasClaim { reader.settleClaim(await retention.contains(reader.position)) }
      }
      while true {
        if !consumer.isCancelled, let element = await nextElsewhere(reader) {
          return element
        }
        switch await consumer.next(reader, &readSinceYield) {
        case .event(let item): return PositionedTopicEvent(item, epoch: reader.epoch)
        case .missed(let range):
          readSinceYield += 1
          return PositionedTopicEvent(range)
        case .elsewhere(let range): replay = ExternalReplay(range)
        case nil: return nil
        }
      }
    }

    /// The next event or missing range of what comes from an external log; `nil` if that is all.
    private mutating func nextElsewhere(_ reader: TopicLogReader) async -> Element? {
      while !rest.isEmpty || replay != nil {
        // A log that answers at once does not suspend the task.
        if await yieldAfterMany() { return nil }
        if let element = replay?.next() {
          readSinceYield += 1
          return element
        }
        if !rest.isEmpty {
          readSinceYield += 1
          return PositionedTopicEvent(rest.removeFirst())
        }
        if replay?.isComplete != false {
          replay = nil
        } else if consumer.isCancelled {
          return nil
        } else {
          readSinceYield += 1
          let page = await replay?.requestPage(of: reader.externalTopics, retention)
          rest = replay?.take(page ?? nil)[...] ?? []
          if let position = replay?.failedAfter { reader.returnToLog(after: position) }
          // The subscription ends: the task does not receive the page.
          if consumer.isCancelled { return nil }
        }
      }
      return nil
    }

    /// Yields if many events were read since the consumer last did.
    ///
    /// - Returns: whether the subscription has been cancelled since.
    private mutating func yieldAfterMany() async -> Bool {
      guard readSinceYield >= EventConsumer.readShare else { return false }
      readSinceYield = 0
      await Task.yield()
      return consumer.isCancelled
    }
  }
}
