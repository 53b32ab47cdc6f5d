internal import Synchronization

/// The state of the hub of one topic. It closes for good, and the hub leaves its table, when it has
/// no more users: subscribers, and threads that are subscribing.
///
/// Handles keep it, and may outlive the hub. So it keeps its topic, which is the user's, only until
/// the hub is gone.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class TopicChannel<Topic: Hashable & Sendable, Event: Sendable>: EventForwarder<Event>,
  @unchecked Sendable
{
  // Sendable: `users` is atomic, and says who uses `origin`.

  // First, because it fits into the word that the last property of the superclass begins.
  /// The number of users, times ``user``, plus ``closed``, ``leaving`` and ``gone``.
  // Relaxed, except where `origin` passes to another thread: of several threads, one closes the
  // channel. The hub and the table have their own orders.
  private let users = Atomic<UInt32>(0)

  /// The topic, and what it has in common with others; `nil` after the hub.
  ///
  /// Read by threads that hold the hub, and by the one that is ``leaving``. Cleared by the hub's
  /// `deinit`; by the thread that is leaving, if there is one then.
  @exclusivity(unchecked) private var origin: (topic: Topic, common: TopicCommon<Topic, Event>)?

  /// Set when the topic was finished, if the hub of topics retains.
  private let lazyEnd = LazyReference<TopicEnd>()

  init(_ topic: Topic, _ common: TopicCommon<Topic, Event>) {
    origin = (topic, common)
    super.init()
  }

  /// There are no more users.
  private static var closed: UInt32 { 1 }
  /// The thread that has closed the channel, with its last user, removes the hub from the table.
  private static var leaving: UInt32 { 2 }
  /// The hub is gone.
  private static var gone: UInt32 { 4 }
  private static var user: UInt32 { 8 }

  override var sharedInspection: HubInspection? { origin?.common.inspection }

  override var containingDrops: DropCounter? { origin?.common.drops }

  override var topicEnd: TopicEnd? { lazyEnd.current }

  override func recordEnd(_ end: TopicEnd) { _ = lazyEnd.install(end) }

  override var keysCarriedFurther: CarriedKeySet? { origin?.common.carried }

  // A sender holds the hub, so the origin is there.
  override var delivery: EventHub<Event>.Delivery? { origin?.common.delivery }

  override func forward(_ event: Event, _ waiters: SendWaiterList?) -> Int {
    // A sender holds the hub of topics, and that the object.
    guard let origin, origin.common.gate.hasSubscribersOfAllTopics,
      let crossTopic = origin.common.crossTopic.object
    else { return 0 }
    return crossTopic.send(TopicEvent(topic: origin.topic, event: event), waiters)
  }

  override func entriesChanged(by difference: Int) {
    super.entriesChanged(by: difference)
    change(by: difference)
  }

  override func hubIsGone() {
    // Acquires the reads of a thread that has left, and releases those of this thread and of others
    // that held the hub to one that is leaving.
    let old = users.bitwiseOr(
      Self.gone | Self.closed, ordering: .acquiringAndReleasing
    ).oldValue
    if old & Self.leaving == 0 { origin = nil }
  }

  private func change(by difference: Int) {
    let rest = users.wrappingAdd(
      Self.user &* UInt32(truncatingIfNeeded: difference), ordering: .relaxed
    ).newValue
    guard rest == 0 else { return }
    // Fails if another thread has acquired or closed the channel in the meantime.
    let (closes, _) = users.compareExchange(
      expected: 0, desired: Self.closed | Self.leaving, ordering: .relaxed)
    guard closes else { return }
    if let origin {
      // Before the topic leaves the table, so that a flush finds what is pending in one of the two.
      origin.common.topics.object?.remove(self, of: origin.topic) {
        origin.common.finishedTopics.object?.addIfOrdered($0)
      }
    }
    // Releases the read of `origin` to the hub's `deinit`, or acquires what came before that.
    let old = users.bitwiseAnd(~Self.leaving, ordering: .acquiringAndReleasing).oldValue
    if old & Self.gone != 0 { origin = nil }
  }
}

extension TopicChannel {
  /// Adds a user until ``release()``, unless the channel is closed.
  ///
  /// - Returns: whether it is open.
  func acquire() -> Bool {
    var observed = users.load(ordering: .relaxed)
    while observed & Self.closed == 0 {
      let (isDone, current) = users.weakCompareExchange(
        expected: observed, desired: observed &+ Self.user, ordering: .relaxed)
      if isDone { return true }
      observed = current
    }
    return false
  }

  func release() { change(by: -1) }

  /// Makes every later ``acquire()`` fail.
  func close() {
    users.bitwiseOr(Self.closed, ordering: .relaxed)
  }
}

extension EventHub {
  /// The state of the hub, which is that of a topic.
  func channel<Topic>(for _: Topic.Type = Topic.self) -> TopicChannel<Topic, Event> {
    // SAFETY: only hubs that `TopicHub.makeHub` has made are in a table of topics.
    unsafeDowncast(state, to: TopicChannel<Topic, Event>.self)
  }
}
