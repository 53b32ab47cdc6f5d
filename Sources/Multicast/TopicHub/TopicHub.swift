internal import Synchronization

/// An ``EventHub`` for each topic that has subscribers, created with the first subscriber and
/// destroyed with the last.
///
/// ```swift
/// let channels = TopicHub<String, Message>()
/// let messages = channels.events(for: "swift")
/// channels.send(message, to: "swift")
/// for await message in messages { show(message) }
/// ```
///
/// A hub of strings can retain events: see ``init(retention:total:epoch:ordering:storage:name:)``.
/// Others keep nothing for topics without subscribers, so they have no replay.
///
/// ## Thread safety
/// Every operation may be called from any thread, also from inside a handler. No lock is held while
/// user code runs, which includes the topic's `hash(into:)` and `==`.
public final class TopicHub<Topic: Hashable & Sendable, Event: Sendable>: Sendable, Unreflected {
  @usableFromInline let topics = TopicTable<Topic, Event>()
  let common: TopicCommon<Topic, Event>
  /// Counts the drops of all topics and patterns, and warns once.
  let drops: DropCounter
  let finishedTopics = FinishedTopics<Event>()
  let ordering: Ordering
  let storage: StorageStrategy
  /// The name that `init` was given: it identifies the hub in descriptions and messages.
  public let name: String?
  /// The number of topics at which subscribers whose owners are gone are removed.
  // Relaxed: guards no other data.
  let pruneLimit = Atomic<Int>(64)
  /// What the hub retains; `nil` if it retains nothing. Set only if topics are strings.
  let retention: TopicRetention<Event>?
  /// Whether there is a retention.
  @usableFromInline let retains: Bool
  /// The subscribers that read its log.
  let signals = TopicSignalSet()
  /// What is observed of the registrations for all topics.
  let inspection: HubInspection
  /// The subscribers of all topics and of patterns.
  let crossTopic: CrossTopicDelivery<Topic, Event>
  /// What a sender checks besides the topic; also how the whole hub has finished.
  @usableFromInline let gate: TopicGate
  /// Delivers each event of every topic, with its topic: for subscribers of all topics.
  ///
  /// ```swift
  /// let log = channels.allTopics.subscribe { print($0.topic, $0.event) }
  /// ```
  ///
  /// It delivers also the events of topics that begin later, and of topics without other
  /// subscribers. Its subscribers see the events of each topic in the order in which the
  /// subscribers of that topic see them. With a total order, an event of a topic that has lost its
  /// last subscriber may follow later ones: see <doc:Limitations>. They count in what
  /// ``send(_:to:)`` returns, but not as subscribers of a topic; they keep no topic in existence,
  /// and ``finish(_:)`` does not end them. What you send to this hub itself reaches only its own
  /// subscribers. It finishes with the hub of topics.
  public let allTopics: EventHub<TopicEvent<Topic, Event>>
  /// How the whole hub has finished, if it has.
  var completion: Completion { gate }

  /// Creates a hub without topics.
  ///
  /// - Parameters:
  ///   - ordering: the order in which the subscribers of a topic see the events of several senders.
  ///   - storage: how each topic stores its subscribers.
  ///   - name: identifies the hub in descriptions and messages.
  /// - Complexity: O(1).
  @inlinable
  public convenience init(
    ordering: Ordering = .perSender, storage: StorageStrategy = .waitFree, name: String? = nil
  ) {
    self.init(ordering, storage, name, Self.deliveries)
  }

  @usableFromInline
  convenience init(
    _ ordering: Ordering, _ storage: StorageStrategy, _ name: String?, _ deliveries: Deliveries
  ) {
    self.init(
      ordering: ordering, storage: storage, name: name, retention: nil, deliveries: deliveries)
  }

  init(
    ordering: Ordering, storage: StorageStrategy, name: String?,
    retention: TopicRetention<Event>?, deliveries: Deliveries
  ) {
    self.retention = retention
    retains = retention != nil
    self.ordering = ordering
    self.storage = storage
    self.name = name
    drops = DropCounter(TopicHub<Topic, Event>.self, name)
    let inspection = HubInspection(name: name)
    self.inspection = inspection
    let gate = TopicGate(retains: retains)
    self.gate = gate
    let observers = ObserverCount()
    let carried = CarriedKeySet()
    allTopics = EventHub(
      ordering: ordering, storage: storage,
      state: DetailedState(
        name, inspection: inspection, carried: carried,
        onExpectation: { difference in
          observers.add(difference)
          gate.addSubscribersOfAllTopics(difference)
        }))
    crossTopic = CrossTopicDelivery(
      allTopics: allTopics, observers, send: deliveries.across, sendBefore: deliveries.acrossBefore)
    common = TopicCommon(
      topics, finishedTopics, gate, crossTopic, deliveries.toTopic, drops, carried,
      inspection)
  }

  /// As ``finish()``: subscribers still receive the events that wait.
  deinit {
    allTopics.finish()
    crossTopic.finishPatterns(nil)
  }
}

// MARK: - Delivery

extension TopicHub {
  /// Delivers an event to the subscribers of all topics, or of a pattern.
  @usableFromInline
  typealias AcrossDelivery =
    @Sendable (EventHub<TopicEvent<Topic, Event>>, TopicEvent<Topic, Event>) -> Int

  /// As ``AcrossDelivery``, and calls a function before the handlers.
  @usableFromInline
  typealias AcrossDeliveryBefore =
    @Sendable (EventHub<TopicEvent<Topic, Event>>, TopicEvent<Topic, Event>, () -> Int) -> Int

  /// The functions that deliver an event. They are made where the hub of topics is made, so that
  /// the compiler specialises them; see ``EventHub/delivery``.
  @usableFromInline
  typealias Deliveries = (
    toTopic: EventHub<Event>.Delivery, across: AcrossDelivery, acrossBefore: AcrossDeliveryBefore
  )

  @inlinable
  static var deliveries: Deliveries {
    (
      EventHub<Event>.delivery, { hub, element in hub.send(element) },
      { hub, element, forward in hub.deliver(element, 0, nil, waiters: nil, forward: forward) }
    )
  }
}

// MARK: - State

extension TopicHub {
  /// The number of topics with subscribers, including subscribers whose owners are gone and that
  /// were not removed yet. ``statistics`` has the topics themselves.
  ///
  /// - Complexity: O(1).
  public var topicCount: Int { topics.count }

  /// The number of subscribers of `topic`, excluding those whose owner is gone.
  ///
  /// - Parameter topic: the topic.
  /// - Returns: the number; 0 if the topic does not exist.
  /// - Complexity: O(subscribers of `topic`).
  public func subscriberCount(for topic: Topic) -> Int {
    topics.hub(of: topic)?.subscriberCount ?? 0
  }

  /// The statistics of each topic that has subscribers, or of which events are retained.
  ///
  /// - Complexity: O(subscribers of all topics), and O(largest number of topics so far). If
  ///   subscribers with positions and a limit have some topics in common and others not, also O(its
  ///   topics) for each of them of each topic.
  public var statistics: [Topic: HubStatistics] {
    var statistics: [Topic: HubStatistics] = [:]
    for (topic, hub) in topics.all { statistics[topic] = hub.statistics }
    retention?.log.forEachTopic { topic, counts in
      // SAFETY: only the initialisers for topics that are strings set the retention.
      let topic = unsafeBitCast(topic, to: Topic.self)
      statistics[topic, default: HubStatistics()].add(counts)
    }
    return statistics
  }

  /// The statistics of `topic`, or `nil` if it has no subscribers and nothing of it is retained.
  ///
  /// - Parameter topic: the topic.
  /// - Returns: the statistics, or `nil`.
  /// - Complexity: O(subscribers of `topic`), and for each one of several topics with a limit O(its
  ///   topics).
  public func statistics(for topic: Topic) -> HubStatistics? {
    let statistics = topics.hub(of: topic)?.statistics
    // SAFETY: only the initialisers for topics that are strings set the retention.
    let counts = retention?.log.statistics(of: unsafeBitCast(topic, to: String.self))
    guard let counts else {
      return statistics
    }
    var sum = statistics ?? HubStatistics()
    sum.add(counts)
    return sum
  }
}
