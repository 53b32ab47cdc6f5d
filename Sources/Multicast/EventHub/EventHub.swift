/// Delivers each event to many subscribers: handlers, queues and asynchronous sequences, each with
/// its own buffer and policy.
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
/// prices.finish()          // the sequence ends after the events that wait
/// await storing.value      // on return, everything is stored
/// ```
///
/// A hub does not transform or merge sequences: use the algorithms that exist for every
/// `AsyncSequence`. To share a sequence, use its `multicast(replay:storage:name:)`.
///
/// ## Thread safety
/// Every operation may be called from any thread, also from inside a handler. No lock is held while
/// user code runs: handlers, filters, keys, continuations, `deinit`.
public final class EventHub<Event: Sendable>: Sendable, Unreflected {
  @usableFromInline let registry: Registry
  /// Gives all events one order; `nil` if the hub needs none.
  @usableFromInline let sequencer: EventSequencer<Event>?
  @usableFromInline let kinds = SubscriberKinds()
  /// Whether the state is an ``EventForwarder``: the hub is that of a topic.
  let isForwarding: Bool
  /// The same object as the extras of the registry.
  @usableFromInline let state: HubState
  /// Made for the first subscriber with a buffer, or the first event that is refused.
  let drops = LazyReference<DropCounter>()

  /// Creates a hub without subscribers.
  ///
  /// - Parameters:
  ///   - replay: the number of past events, the newest, that a new subscriber receives first,
  ///     unless it says where it begins. No more than are retained.
  ///   - retention: which past events the hub keeps, for subscribers that say where they begin; if
  ///     it is `none`, those of the replay. A hub that retains has one order: see ``Ordering``.
  ///   - epoch: that of the hub's positions; `nil`: a random one. See ``EventPosition``.
  ///   - ordering: the order in which subscribers see the events of several senders.
  ///   - storage: how the hub stores its subscribers.
  ///   - name: identifies the hub in descriptions and messages.
  ///   - onFirstSubscriber: runs when the number of subscribers rises from zero: start the source
  ///     here.
  ///   - onLastSubscriber: runs when the number of subscribers falls to zero: stop the source here.
  ///     The two alternate and never overlap. They run on the thread that adds or removes the
  ///     subscriber, or on one that does so concurrently. A subscriber whose owner is gone is
  ///     removed by a later `send`, or by a call that counts subscribers, such as ``statistics``.
  ///   - onSubscriberChange: runs for each subscriber that comes or goes, in order, before the
  ///     hooks above, and where they run. One with a buffer goes when it has received what waits.
  /// - Precondition: `replay` is not negative.
  /// - Complexity: O(1).
  @inlinable
  public convenience init(
    replay: Int = 0, retention: Retention<Event> = .none, epoch: UInt64? = nil,
    ordering: Ordering = .perSender, storage: StorageStrategy = .waitFree, name: String? = nil,
    onFirstSubscriber: (@Sendable () -> Void)? = nil,
    onLastSubscriber: (@Sendable () -> Void)? = nil,
    onSubscriberChange: (@Sendable (SubscriberChange) -> Void)? = nil
  ) {
    self.init(
      replay, nil, retention, epoch, ordering, storage, name, onFirstSubscriber, onLastSubscriber,
      onSubscriberChange, Self.delivery, PositionedEvent<Event>.call)
  }

  @usableFromInline
  convenience init(
    _ replay: Int, _ initialValue: Event?, _ retention: Retention<Event>, _ epoch: UInt64?,
    _ ordering: Ordering, _ storage: StorageStrategy, _ name: String?,
    _ onFirstSubscriber: (@Sendable () -> Void)?, _ onLastSubscriber: (@Sendable () -> Void)?,
    _ onSubscriberChange: (@Sendable (SubscriberChange) -> Void)?,
    _ delivery: @escaping Delivery, _ callPositioned: @escaping PositionedEvent<Event>.Call
  ) {
    require(replay >= 0, "\(messagePrefix(name)) replay must not be negative, but is \(replay).")
    require(
      replay >= 1 || initialValue == nil,
      "\(messagePrefix(name)) an initial value needs a replay of at least 1, but it is \(replay).")
    self.init(
      replay: replay, initialValue: initialValue, retention: retention, epoch: epoch,
      ordering: ordering, storage: storage, delivery: delivery, callPositioned: callPositioned,
      state: Self.state(name, onFirstSubscriber, onLastSubscriber, onSubscriberChange))
  }

  /// A state for a hub with this name and these hooks.
  static func state(
    _ name: String?, _ onFirstSubscriber: (@Sendable () -> Void)?,
    _ onLastSubscriber: (@Sendable () -> Void)?,
    _ onSubscriberChange: (@Sendable (SubscriberChange) -> Void)?
  ) -> HubState {
    let hooks = SubscriberHooks(
      first: onFirstSubscriber, last: onLastSubscriber, each: onSubscriberChange)
    return name == nil && hooks == nil ? HubState() : DetailedState(name, hooks: hooks)
  }

  /// - Parameters:
  ///   - initialValue: the first event to replay.
  ///   - retention: which events to keep.
  ///   - epoch: that of the positions.
  ///   - delivery: what a sequencer delivers with; see ``EventHub/delivery``.
  ///   - callPositioned: what calls a handler that receives positions.
  ///   - opening: how subscriptions begin in a hub with one order that keeps no events.
  ///   - state: of this hub alone.
  init(
    replay: Int = 0, initialValue: Event? = nil, retention: Retention<Event> = .none,
    epoch: UInt64? = nil, ordering: Ordering, storage: StorageStrategy,
    delivery: Delivery? = nil,
    callPositioned: @escaping PositionedEvent<Event>.Call = PositionedEvent<Event>.call,
    opening: EventOpening<Event>? = nil, state: HubState
  ) {
    self.state = state
    isForwarding = state is EventForwarder<Event>
    sequencer =
      replay > 0 || !retention.isNone || ordering == .total
      ? EventSequencer(
        replay: replay, initialValue: initialValue, retention: retention, epoch: epoch,
        opening: opening, delivery: delivery, callPositioned: callPositioned, state: state)
      : nil
    registry = Registry(strategy: storage, duplicates: .allow, extras: state)
  }

  /// As ``finish()``: subscribers still receive the events that wait.
  deinit {
    finish()
    state.current?.finish(state)
    state.hubIsGone()
  }
}

// MARK: - Delivery

extension EventHub {
  @usableFromInline
  typealias Delivery =
    @Sendable (EventHub<Event>, Event, UInt64, Envelope?, SendWaiterList?, EventForwarder<Event>?)
    -> Int

  /// A function that delivers an event as ``deliver(_:_:_:waiters:)`` does, and passes it on if
  /// there is a forwarder. It is made where the hub is made, or where a sender waits, so that the
  /// compiler specialises it for the type of the event: with a type that is found at run time, each
  /// call of a handler takes ten times as long.
  @inlinable
  static var delivery: Delivery {
    { hub, event, number, envelope, waiters, forwarder in
      guard let forwarder else {
        return hub.deliver(event, number, envelope, waiters: waiters)
      }
      return hub.deliver(event, number, envelope, waiters: waiters) {
        forwarder.forward(event, waiters)
      }
    }
  }
}

// MARK: - State

extension EventHub {
  /// What passes each event on, if this is the hub of a topic.
  var forwarder: EventForwarder<Event>? {
    // SAFETY: `isForwarding` says that it is one.
    isForwarding ? unsafeDowncast(state, to: EventForwarder<Event>.self) : nil
  }

  /// The counter of drops and refused events.
  var dropCounter: DropCounter {
    drops.current(
      or: DropCounter(EventHub<Event>.self, state.name, parent: state.containingDrops))
  }

  /// The number of subscribers, excluding those whose owner is gone.
  ///
  /// A subscriber that the hub has ended, or that was disconnected, does not count here while it
  /// receives what waits. It does in ``subscriberCounts(buffering:)`` and for the hooks of the hub.
  ///
  /// - Complexity: O(subscribers).
  public var subscriberCount: Int {
    var count = 0
    registry.forEachValue(Subscriber<Event>.self, access: .read) { subscriber in
      if subscriber.pipeline?.mailbox?.end == nil { count += 1 }
      return true
    }
    return count
  }

  /// Counts of what happened to the events so far.
  ///
  /// - Complexity: O(subscribers).
  public var statistics: HubStatistics {
    var statistics = HubStatistics()
    registry.forEachValue(Subscriber<Event>.self, access: .read) { subscriber in
      let mailbox = subscriber.pipeline?.mailbox
      if mailbox?.end == nil { statistics.subscribers += 1 }
      if let mailbox, !mailbox.isFollowing { statistics.pending += mailbox.statistics.pending }
      return true
    }
    statistics.dropped = drops.current?.total ?? 0
    statistics.droppedWithoutWaiting = drops.current?.totalUnwaited ?? 0
    statistics.refused = drops.current?.refused ?? 0
    return statistics
  }

  /// Finishes every subscriber, and then the source of the hub: that may wait for a subscriber with
  /// an event, which is delivered at the end.
  func finishSubscribers() {
    for case let entry? in registry.snapshot() { finish(entry) }
    state.hubDidFinish()
  }

  /// Drains the ``InlineMailbox`` of each handler that has one, unless another thread is doing so.
  func serveHandlers() {
    guard kinds.hasHandlersWithBuffer else { return }
    registry.forEachEntry { invocation, entry, _ in
      // SAFETY: the invocation holds the entry, which owns the mailbox.
      entry.inlineMailbox?._withUnsafeGuaranteedRef { $0.serve(entry, invocation) }
      return true
    }
  }

  func finish(_ entry: Entry) {
    // The subscription of a dead owner has ended already.
    if !entry.isDead, let mailbox = entry.head.pointee.mailbox?.takeUnretainedValue() {
      let coalescer = Entry.value(entry.head, as: Subscriber<Event>.self).pointee.pass {
        $0.pipeline?.coalescer
      }
      if let coalescer { coalescer.finish(entry) } else { mailbox.close(.finished, for: entry) }
    } else {
      // Also if a cancellation removes the entry after the mark: the end of the hub came first.
      let isFinished = entry.markFinished()
      registry.remove(entry)
      if isFinished { Self.reportEnd(of: entry, state) }
    }
  }
}
