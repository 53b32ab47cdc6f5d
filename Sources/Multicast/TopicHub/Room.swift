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
