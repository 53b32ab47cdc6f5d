@testable import Multicast

extension MulticastDelegate {
  /// How many entries are registered, the dead among them.
  var registeredEntries: Int {
    registry.storage.snapshot().count { $0 != nil }
  }

  /// The number of mailboxes for invocations on actors, also of actors that are gone.
  var isolatedMailboxes: Int { isolatedCalls.entries.count }

  /// The number of slots of the list.
  var capacity: Int {
    capacity(of: registry.storage)
  }

  private func capacity(of storage: some EntryStorage) -> Int {
    storage.update { $0.slots.capacity }
  }
}
