internal import Synchronization

/// How many elements were lost in all mailboxes of a hub, those of the past among them.
final class DropCounter: Sendable {
  // Relaxed: a number to be looked at; nothing is concluded from it about other memory.
  private let count = Atomic<Int>(0)

  func add(_ lost: Int) {
    count.wrappingAdd(lost, ordering: .relaxed)
  }

  var total: Int { count.load(ordering: .relaxed) }
}
