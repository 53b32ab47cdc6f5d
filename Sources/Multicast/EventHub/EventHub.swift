internal import Synchronization

/// In which order the subscribers of a hub see the events of several senders.
public enum Ordering: Sendable, Hashable, CaseIterable {
  /// Each subscriber sees each sender's events in order, apart from what handlers send (see
  /// ``EventHub/send(_:)``); two subscribers may see the events of two senders in different orders. The default, and the fastest: senders do not wait for each other.
  ///
  /// A hub that replays has one order all the same, that in which it keeps the events: so a
  /// subscriber ends with the newest event that the hub keeps, unless its filter or its own policy
  /// left that out.
  case perSender
  /// All subscribers see all events in one order. An event that is sent while another one is being
  /// delivered, by another thread or by a handler, is delivered afterwards by the sender that is
  /// delivering; its own sender does not wait for it.
  case total
}

/// Hands each event to many subscribers: handlers, queues and asynchronous sequences, each with a
/// buffer and a policy of its own.
///
/// ```swift
/// let prices = EventHub<Price>()
///
/// let subscription = prices.subscribe { price in chart.add(price) }
/// let sequence = prices.events(buffering: .bounded(100, whenFull: .dropOldest))
/// let storing = Task { for await price in sequence { await store(price) } }
///
/// prices.send(Price(42))   // from any thread; synchronous; returns the number of subscribers
///
/// prices.finish()          // the sequence ends after what waits
/// await storing.value      // on return, everything is stored
/// ```
///
/// A hub does not transform, merge or share sequences: its sequences are ordinary ones, for which
/// there are algorithms elsewhere.
///
/// ## Thread safety
/// Every operation may be called from any thread, also from inside a handler. No lock is held while
/// user code runs: handlers, continuations, `deinit`, keys.
public final class EventHub<Event: Sendable>: Sendable {
  @usableFromInline let registry: Registry
  /// Numbers events if there is one order, and delivers them in it.
  @usableFromInline let sequencer: EventSequencer<Event>?
  /// Which kinds of subscribers there are, or were.
  @usableFromInline let kinds = SubscriberKinds()
  /// Raised by `finish`.
  @usableFromInline let finishing = FinishFlag()
  let drops = DropCounter()
  // Relaxed: a number to be looked at.
  let refused = Atomic<Int>(0)

  /// Creates a hub without subscribers.
  ///
  /// - Parameters:
  ///   - replay: how many of the newest events a new subscriber gets before the live ones.
  ///   - ordering: in which order subscribers see the events of several senders.
  ///   - storage: how subscribers are stored.
  ///   - onFirstSubscriber: runs when somebody subscribes where nobody was: the place to start the
  ///     source.
  ///   - onLastSubscriber: runs when nobody is left: the place to stop it. The two take turns and
  ///     never overlap; they run on the thread that subscribes or cancels, or on another one that
  ///     was doing so. A subscriber that an owner takes along is noticed by the next `send`.
  /// - Precondition: `replay` is not negative.
  public convenience init(
    replay: Int = 0, ordering: Ordering = .perSender, storage: StorageStrategy = .waitFree,
    onFirstSubscriber: (@Sendable () -> Void)? = nil,
    onLastSubscriber: (@Sendable () -> Void)? = nil
  ) {
    require(replay >= 0, "Multicast: a replay of \(replay) events; it must not be negative.")
    var presence: (@Sendable (Int) -> Void)?
    if onFirstSubscriber != nil || onLastSubscriber != nil {
      let hooks = SubscriberHooks(first: onFirstSubscriber, last: onLastSubscriber)
      presence = { hooks.change(by: $0) }
    }
    self.init(replay: replay, ordering: ordering, storage: storage, presence: presence)
  }

  /// - Parameter presence: told how many subscribers have come, or gone if negative.
  init(
    replay: Int = 0, ordering: Ordering, storage: StorageStrategy,
    presence: (@Sendable (Int) -> Void)?
  ) {
    registry = Registry(strategy: storage, duplicates: .allowed, onChange: presence)
    sequencer =
      replay > 0 || ordering == .total
      ? EventSequencer(replay: replay) : nil
  }

  /// As ``finish()``: what waits is still delivered.
  deinit {
    finish()
  }
}

// MARK: - State

extension EventHub {
  /// How many subscribers there are. One whose owner is gone is never counted.
  ///
  /// - Complexity: O(subscribers).
  public var subscriberCount: Int {
    var count = 0
    registry.forEachValue(Subscriber<Event>.self) { subscriber in
      if subscriber.pipeline?.mailbox?.end == nil { count += 1 }
      return true
    }
    return count
  }

  /// What became of the events so far.
  ///
  /// - Complexity: O(subscribers).
  public var statistics: HubStatistics {
    var statistics = HubStatistics()
    registry.forEachValue(Subscriber<Event>.self) { subscriber in
      let mailbox = subscriber.pipeline?.mailbox
      if mailbox?.end == nil { statistics.subscribers += 1 }
      statistics.pending += mailbox?.statistics.pending ?? 0
      return true
    }
    statistics.dropped = drops.total
    statistics.refused = refused.load(ordering: .relaxed)
    return statistics
  }

  /// Ends the hub: there will be no more events.
  ///
  /// Handlers that senders call are removed. Those with a buffer, and sequences, get what waits and
  /// then end. Later subscribers get the replay, if the hub has one, and then end; later events are
  /// refused and counted. Finishing again does nothing. If the hub has one order (see ``Ordering``)
  /// and a sender is delivering, subscribers end after the events that were sent before, by that
  /// sender.
  ///
  /// - Complexity: O(subscribers).
  public func finish() {
    // Sequentially consistent: whoever subscribes adds an entry and then looks here; we write here
    // and then look at the entries. One of the two sees the other.
    let wasFinished = finishing.isRaised.exchange(true, ordering: .sequentiallyConsistent)
    guard !wasFinished else { return }
    if let sequencer { sequencer.finish(self) } else { finishSubscribers() }
  }

  func finishSubscribers() {
    for case let entry? in registry.snapshot() { finish(entry) }
  }

  /// Calls the handlers without a queue that have a buffer, as long as they have something in it and
  /// no other thread is calling them.
  func serveHandlers() {
    guard kinds.hasHandlersWithBuffer else { return }
    registry.forEachEntry { _, entry, _ in
      // SAFETY: the invocation holds the entry.
      let entry = entry.takeUnretainedValue()
      entry.inlineMailbox?.serve(entry)
      return true
    }
  }

  func finish(_ entry: Entry) {
    // One whose owner is gone has ended already.
    if !entry.isDead, let mailbox = entry.head.pointee.mailbox?.takeUnretainedValue() {
      mailbox.close(.finished, for: entry)
    } else {
      registry.remove(entry)
    }
  }
}
