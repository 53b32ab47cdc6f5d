public import Dispatch
internal import Synchronization

/// An ``EventHub`` for each topic, made when the topic gets its first subscriber, and gone with its
/// last one.
///
/// ```swift
/// let rooms = TopicHub<String, Message>()
/// let messages = rooms.events(for: "swift")
/// rooms.send(message, to: "swift")
/// ```
///
/// It does not keep events for topics without subscribers, so it does not replay.
///
/// ## Thread safety
/// Every operation may be called from any thread, also from inside a handler. No lock is held while
/// user code runs, which includes the topic's `hash(into:)` and `==`.
public final class TopicHub<Topic: Hashable & Sendable, Event: Sendable>: Sendable {
  private let topics = TopicTable<Topic, Room<Event>>()
  private let ordering: Ordering
  private let storage: StorageStrategy
  /// How many topics there are when those are looked for whose last owners are gone.
  // Relaxed: a number to be looked at.
  private let pruneCount = Atomic<Int>(64)

  /// Creates a hub without topics.
  ///
  /// - Parameters:
  ///   - ordering: in which order the subscribers of one topic see the events of several senders.
  ///   - storage: how the subscribers of a topic are stored.
  public init(ordering: Ordering = .perSender, storage: StorageStrategy = .waitFree) {
    self.ordering = ordering
    self.storage = storage
  }
}

extension TopicHub {
  /// How many topics have subscribers; one whose owners are gone counts until it is pruned.
  ///
  /// - Complexity: O(1).
  public var topicCount: Int { topics.count }

  /// What became of the events of each topic that has subscribers.
  ///
  /// - Complexity: O(subscribers of all topics), and O(largest number of topics so far).
  public var statistics: [Topic: HubStatistics] {
    var statistics: [Topic: HubStatistics] = [:]
    for (topic, room) in topics.all { statistics[topic] = room.hub.statistics }
    return statistics
  }

  /// How many subscribers `topic` has. One whose owner is gone is never counted.
  ///
  /// - Complexity: O(subscribers of `topic`).
  public func subscriberCount(for topic: Topic) -> Int {
    topics.value(for: topic)?.hub.subscriberCount ?? 0
  }

  /// Hands `event` to every subscriber of `topic`. See ``EventHub/send(_:)``.
  ///
  /// - Returns: how many subscribers were called or have the event in their buffer.
  /// - Complexity: O(subscribers of `topic`).
  @discardableResult
  public func send(_ event: Event, to topic: Topic) -> Int {
    topics.value(for: topic)?.hub.send(event) ?? 0
  }

  /// Hands `event` to every subscriber of `topic`, and suspends while the buffer of one whose
  /// policy is `.suspend` is full. See ``EventHub/sendWaiting(_:)``.
  ///
  /// - Complexity: O(subscribers of `topic`).
  public func sendWaiting(_ event: Event, to topic: Topic) async {
    await topics.value(for: topic)?.hub.sendWaiting(event)
  }

  /// Calls `handler` with each event of `topic` from now on. See
  /// ``EventHub/subscribe(on:buffering:where:_:)``.
  ///
  /// - Parameters:
  ///   - topic: made if it has no subscriber yet.
  ///   - queue: where to call the handler; `nil` for the sender's thread.
  ///   - buffering: what may wait, and what is lost if it is too much.
  ///   - handler: what to do with an event.
  /// - Returns: a handle; the subscription ends when it goes away.
  /// - Complexity: amortised O(1). Whenever the number of topics has doubled, the one that makes the
  ///   next also looks for dead owners: O(subscribers of all topics).
  public func subscribe(
    to topic: Topic, on queue: DispatchQueue? = nil,
    buffering: BufferingPolicy<Event> = .unbounded,
    _ handler: @escaping @Sendable (Event) -> Void
  ) -> Subscription {
    enter(topic) { $0.subscribe(on: queue, buffering: buffering, handler) }
  }

  /// Calls `handler` with `owner` and each event of `topic`, as long as `owner` lives. See
  /// ``EventHub/subscribe(with:on:buffering:where:_:)``.
  ///
  /// - Parameters:
  ///   - topic: made if it has no subscriber yet.
  ///   - owner: what is passed to the handler, not kept alive.
  ///   - queue: where to call the handler; `nil` for the sender's thread.
  ///   - buffering: what may wait, and what is lost if it is too much.
  ///   - handler: what to do with an event.
  /// - Returns: a handle that may be dropped.
  /// - Complexity: as for ``subscribe(to:on:buffering:_:)``.
  @discardableResult
  public func subscribe<Owner: AnyObject & Sendable>(
    to topic: Topic, with owner: Owner, on queue: DispatchQueue? = nil,
    buffering: BufferingPolicy<Event> = .unbounded,
    _ handler: @escaping @Sendable (Owner, Event) -> Void
  ) -> Subscription {
    enter(topic) { $0.subscribe(with: owner, on: queue, buffering: buffering, handler) }
  }

  /// The events of `topic` from now on, as an asynchronous sequence. See
  /// ``EventHub/events(buffering:where:)``.
  ///
  /// - Parameters:
  ///   - topic: made if it has no subscriber yet.
  ///   - buffering: what may wait, and what is lost if it is too much.
  /// - Complexity: as for ``subscribe(to:on:buffering:_:)``.
  public func events(
    for topic: Topic, buffering: BufferingPolicy<Event> = .unbounded
  ) -> EventSequence<Event> {
    EventSequence { [weak self] in self?.enter(topic) { $0.consumer(buffering, nil) } }
  }

  /// Ends `topic` for those who are subscribed now; see ``EventHub/finish()``. Whoever subscribes
  /// later begins anew.
  ///
  /// - Complexity: O(subscribers of `topic`).
  public func finish(_ topic: Topic) {
    guard let room = topics.value(for: topic) else { return }
    room.close()
    topics.remove(room, for: topic)
    room.hub.finish()
  }

  /// Subscribes to the hub of `topic` in such a way that the hub cannot vanish meanwhile.
  private func enter<R>(_ topic: Topic, _ subscribe: (EventHub<Event>) -> R) -> R {
    while true {
      let room = topics.value(for: topic) { makeRoom(topic) }
      if room.enter() {
        defer { room.leave() }
        return subscribe(room.hub)
      }
      // It closed after we found it: whoever closed it is removing it; help.
      topics.remove(room, for: topic)
    }
  }

  /// Lets topics go whose last owners are gone, whenever the number of topics has doubled.
  private func pruneTopics() {
    let limit = pruneCount.load(ordering: .relaxed)
    guard limit < .max, topics.count >= limit else { return }
    // One thread at a time.
    guard
      pruneCount.compareExchange(expected: limit, desired: .max, ordering: .relaxed).exchanged
    else { return }
    for (_, room) in topics.all { room.hub.registry.prune() }
    pruneCount.store(max(64, 2 * topics.count), ordering: .relaxed)
  }

  private func makeRoom(_ topic: Topic) -> Room<Event> {
    pruneTopics()
    return Room(ordering, storage) { [weak topics] room in topics?.remove(room, for: topic) }
  }
}

/// The hub of one topic, and who is in it.
///
/// It closes for good when nobody is left, neither a subscriber nor somebody who is about to become
/// one.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class Room<Event: Sendable>: @unchecked Sendable {
  // Sendable: `occupants` and `isClosed` are touched inside `lock` alone; `hub` is set before
  // anybody else has the room.
  private(set) var hub: EventHub<Event>! = nil
  private let whenClosed: @Sendable (Room) -> Void
  private let lock = Lock()
  private var occupants = 0
  private var isClosed = false

  init(
    _ ordering: Ordering, _ storage: StorageStrategy, whenClosed: @escaping @Sendable (Room) -> Void
  ) {
    self.whenClosed = whenClosed
    hub = EventHub(
      ordering: ordering, storage: storage,
      presence: { [weak self] difference in self?.change(by: difference) })
  }

  /// - Returns: whether the room is open; then it stays so until ``leave()``.
  func enter() -> Bool {
    lock.withLock {
      guard !isClosed else { return false }
      occupants += 1
      return true
    }
  }

  func leave() { change(by: -1) }

  /// Closes the room to those who come later.
  func close() {
    lock.withLock { isClosed = true }
  }

  private func change(by difference: Int) {
    let closes = lock.withLock {
      occupants += difference
      guard occupants == 0, !isClosed else { return false }
      isClosed = true
      return true
    }
    if closes { whenClosed(self) }
  }
}
