/// The hub of one topic. It closes for good, and leaves its table, when it has no more users:
/// subscribers, and threads that are subscribing.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class TopicChannel<Topic: Hashable & Sendable, Event: Sendable>: @unchecked Sendable {
  // Sendable: `users` and `isClosed` are accessed inside `lock` alone; `hub` is set before another
  // thread has the channel; `topic` and `table` never change.
  private(set) var hub: EventHub<Event>! = nil
  private let topic: Topic
  /// The table that has the channel until it closes.
  private weak let table: TopicTable<Topic, Event>?
  private let lock = Lock()
  private var users = 0
  private var isClosed = false

  init(
    _ topic: Topic, in table: TopicTable<Topic, Event>, _ ordering: Ordering,
    _ storage: StorageStrategy, _ forward: @escaping EventForwarding<Event>, _ drops: DropCounter
  ) {
    self.topic = topic
    self.table = table
    hub = EventHub(
      ordering: ordering, storage: storage, forward: forward, drops: drops,
      onChange: { [weak self] difference in self?.change(by: difference) })
  }

  /// Adds a user until ``release()``, unless the channel is closed.
  ///
  /// - Returns: whether it is open.
  func acquire() -> Bool {
    lock.withLock {
      guard !isClosed else { return false }
      users += 1
      return true
    }
  }

  func release() { change(by: -1) }

  /// Makes every later ``acquire()`` fail.
  func close() {
    lock.withLock { isClosed = true }
  }

  private func change(by difference: Int) {
    let closes = lock.withLock {
      users += difference
      guard users == 0, !isClosed else { return false }
      isClosed = true
      return true
    }
    if closes { table?.remove(self, of: topic) }
  }
}
