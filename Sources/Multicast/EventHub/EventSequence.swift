/// The events of a hub as an asynchronous sequence: what `events` returns.
///
/// The subscription begins with `events`. The first iterator takes it over, and it ends when the
/// iterator is dropped, when its task is cancelled, when the hub finishes or the sequence is
/// disconnected for slowness, and what waits was delivered, or, if there never was an iterator,
/// when the sequence is abandoned. An iterator after the first begins a subscription of its own,
/// with the replay and the events from then on.
///
/// A consumer that always finds an event waiting lets other tasks run after at most 64.
///
/// ## Thread safety
/// The sequence may be handed around. An iterator belongs to one task, or to an actor. If several
/// tasks of an actor await the next event of one iterator, each event goes to one of them; at the
/// end, and if one of them is cancelled, which ends the subscription, all get `nil`.
public struct EventSequence<Event: Sendable>: AsyncSequence, Sendable {
  public typealias Element = Event
  public typealias Failure = Never

  private let source: EventSource

  init(_ subscribe: @escaping @Sendable () -> EventConsumer?) {
    source = EventSource(subscribe)
  }

  /// The iterator that takes the subscription over, or, after the first, one with its own.
  public func makeAsyncIterator() -> Iterator {
    Iterator(consumer: source.take())
  }

  /// The same events, with a note wherever some were lost.
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
  public func notingDrops() -> Noting {
    Noting(source: source)
  }

  func makeIterator() -> Iterator { makeAsyncIterator() }
}

extension EventSequence {
  /// An iterator over the events of a hub.
  public struct Iterator: AsyncIteratorProtocol {
    @usableFromInline let consumer: EventConsumer

    /// Why nothing more is coming, or `nil` as long as more may come. Events that wait may still be
    /// delivered then.
    public var end: SubscriptionEnd? { consumer.mailbox.end }

    /// What became of the events of this iteration. An event counts as delivered when ``next()``
    /// has returned it.
    public var statistics: DeliveryStatistics { consumer.mailbox.statistics }

    /// The next event, or `nil` at the end or if the task is cancelled.
    @inlinable
    public func next() async -> Event? {
      await next(isolation: #isolation)
    }

    /// The next event, or `nil` at the end or if the task is cancelled.
    @inlinable
    public func next(isolation actor: isolated (any Actor)?) async -> Event? {
      if let item = consumer.nextTaken() { return item.event(Event.self) }
      return await consumer.next()?.event(Event.self)
    }
  }

  /// An event, or a note that some were lost.
  public enum Noted: Sendable {
    /// An event, as the plain sequence has it.
    case event(Event)
    /// So many events were dropped at this point.
    case dropped(Int)
  }

  /// The events of a hub, with a note wherever some were lost.
  public struct Noting: AsyncSequence, Sendable {
    public typealias Element = Noted
    public typealias Failure = Never

    fileprivate let source: EventSource

    /// As of the plain sequence: it is the same subscription.
    public func makeAsyncIterator() -> Iterator {
      Iterator(consumer: source.take())
    }

    /// An iterator over events and notes.
    public struct Iterator: AsyncIteratorProtocol {
      fileprivate let consumer: EventConsumer

      /// As of an iterator over the events alone.
      public var end: SubscriptionEnd? { consumer.mailbox.end }

      /// As of an iterator over the events alone.
      public var statistics: DeliveryStatistics { consumer.mailbox.statistics }

      fileprivate init(consumer: EventConsumer) {
        self.consumer = consumer
      }

      /// The next event or note, or `nil` at the end or if the task is cancelled.
      public mutating func next() async -> Noted? {
        await next(isolation: #isolation)
      }

      /// The next event or note, or `nil` at the end or if the task is cancelled.
      public mutating func next(isolation actor: isolated (any Actor)?) async -> Noted? {
        switch await consumer.nextNoted() {
        case .event(let event): .event(event.event(Event.self))
        case .dropped(let count): .dropped(count)
        case nil: nil
        }
      }
    }
  }
}
