internal import Synchronization

/// The hub of one topic. It closes for good, and leaves its table, when it has no more users:
/// subscribers, and threads that are subscribing.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class TopicChannel<Topic: Hashable & Sendable, Event: Sendable>: @unchecked Sendable {
  // Sendable: `hub` is set before another thread has the channel; `topic` and `table` never change;
  // `users` is atomic.
  private(set) var hub: EventHub<Event>! = nil
  private let topic: Topic
  /// The table that has the channel until it closes.
  private let table: UnownedReference<TopicTable<Topic, Event>>
  /// Twice the number of users, plus `closed`, which is final.
  // Relaxed: of several threads, one closes the channel. The hub and
  // the table have their own orders.
  private let users = Atomic<Int>(0)

  private static var closed: Int { 1 }
  private static var user: Int { 2 }

  init(
    _ topic: Topic, in table: TopicTable<Topic, Event>, _ ordering: Ordering,
    _ storage: StorageStrategy, _ forward: @escaping EventForwarding<Event>, _ drops: DropCounter,
    _ inspection: HubInspection? = nil
  ) {
    self.topic = topic
    self.table = UnownedReference(table)
    let channel = UnownedReference(self)
    hub = EventHub(
      ordering: ordering, storage: storage, forward: forward, drops: drops,
      inspection: inspection,
      onChange: { difference in channel.object?.change(by: difference) })
  }

  /// Adds a user until ``release()``, unless the channel is closed.
  ///
  /// - Returns: whether it is open.
  func acquire() -> Bool {
    var observed = users.load(ordering: .relaxed)
    while observed & Self.closed == 0 {
      let (isDone, current) = users.weakCompareExchange(
        expected: observed, desired: observed + Self.user, ordering: .relaxed)
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

  private func change(by difference: Int) {
    let rest = users.wrappingAdd(difference * Self.user, ordering: .relaxed).newValue
    guard rest == 0 else { return }
    // Fails if another thread has acquired or closed the channel in the meantime.
    let (closes, _) = users.compareExchange(
      expected: 0, desired: Self.closed, ordering: .relaxed)
    if closes { table.object?.remove(self, of: topic) }
  }
}
