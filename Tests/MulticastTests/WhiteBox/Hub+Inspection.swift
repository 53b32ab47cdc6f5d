@testable import Multicast

extension MulticastDelegate {
  /// How many entries are registered, the dead among them.
  var registeredEntries: Int {
    registry.storage.snapshot().count { $0 != nil }
  }

  /// How many places the list has.
  var places: Int {
    places(of: registry.storage)
  }

  private func places(of storage: some EntryStorage) -> Int {
    storage.update { $0.slots.capacity }
  }
}
