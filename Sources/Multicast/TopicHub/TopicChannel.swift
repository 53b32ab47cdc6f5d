/// The hub of one topic, and who is in it.
///
/// It closes for good when nobody is left, neither a subscriber nor somebody who is about to become
/// one.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class TopicChannel<Topic: Hashable & Sendable, Event: Sendable>: @unchecked Sendable {
  // Sendable: `users` and `isClosed` are touched inside `lock` alone; `hub` is set before
  // anybody else has the channel; `topic` and `table` never change.
  private(set) var hub: EventHub<Event>! = nil
  private let topic: Topic
  /// Where the channel is found until it closes.
  private weak let table: TopicTable<Topic, Event>?
  private let lock = Lock()
  private var users = 0
  private var isClosed = false

  init(
    _ topic: Topic, in table: TopicTable<Topic, Event>, _ ordering: Ordering,
    _ storage: StorageStrategy
  ) {
    self.topic = topic
    self.table = table
    hub = EventHub(
      ordering: ordering, storage: storage,
      presence: { [weak self] difference in self?.change(by: difference) })
  }

  /// - Returns: whether the channel is open; then it stays so until ``leave()``.
  func enter() -> Bool {
    lock.withLock {
      guard !isClosed else { return false }
      users += 1
      return true
    }
  }

  func leave() { change(by: -1) }

  /// Closes the channel to those who come later.
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
