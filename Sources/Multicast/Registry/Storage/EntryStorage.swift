/// How a registry keeps its entries: the only difference between the strategies.
///
/// A storage defines how a reader gets the registered entries, and when a removed entry may be
/// freed.
///
/// ## Thread safety
/// Every requirement may be called from any thread. `change` is a critical section: it runs no user
/// code, and returns what to retire.
protocol EntryStorage: AnyObject, Sendable {
  associatedtype Slots: EntrySlots

  /// The registered entries, in order, retained; `nil` where one was removed.
  func snapshot() -> ContiguousArray<Entry?>

  /// Changes the table, exclusively.
  func update<R>(_ change: (inout EntryTable<Slots>) -> R) -> R

  /// As ``update(_:)``, or returns `nil` if the lock is taken.
  func updateIfAvailable<R>(_ change: (inout EntryTable<Slots>) -> R) -> R?

  /// Frees `removed` as soon as no reader can use it.
  func retire(_ removed: consuming Entry)

  /// As `retire(_:)` for each.
  func retire(_ removed: ContiguousArray<Entry>)

  // The following have one implementation, below. As requirements they are compiled for each
  // storage, instead of once with types that are looked up at run time.

  func insert(_ entry: Unmanaged<Entry>, duplicates: DuplicatePolicy, mayGrow: Bool) -> Insertion
  func exchange(_ existing: Entry, for entry: Unmanaged<Entry>) -> Bool
  func remove(_ entry: Unmanaged<Entry>) -> Bool
  func removeAll(at address: Int) -> (removed: Int, current: Int)
  func removeAll() -> Int
  func contains(_ address: Int) -> Bool
  func prune(_ dead: ContiguousArray<Entry>, waiting: Bool) -> Int
  func lockedSnapshot() -> ContiguousArray<Entry>
  var lockedLiveCount: Int { get }
  var count: Int { get }
}

extension EntryStorage {
  /// Does nothing: a reader of these storages retains the entries.
  func retire(_ removed: consuming Entry) {}

  /// Does nothing: likewise.
  func retire(_ removed: ContiguousArray<Entry>) {}
}

// MARK: - Operations of every storage

extension EntryStorage {
  /// Takes over a retain of `entry` if that is added.
  func insert(_ entry: Unmanaged<Entry>, duplicates: DuplicatePolicy, mayGrow: Bool) -> Insertion {
    let insertion = update { $0.insert(entry, duplicates: duplicates, mayGrow: mayGrow) }
    if case .replaced(let old) = insertion { retireAndDiscard(old) }
    return insertion
  }

  /// - Returns: whether `existing` was registered, and `entry` is now, which takes over a retain.
  func exchange(_ existing: Entry, for entry: Unmanaged<Entry>) -> Bool {
    guard let old = update({ $0.exchange(existing, for: entry) }) else { return false }
    retireAndDiscard(old)
    return true
  }

  /// - Parameter entry: perhaps a dead one, of which only the memory is left.
  /// - Returns: whether it was registered.
  func remove(_ entry: Unmanaged<Entry>) -> Bool {
    guard let removed = update({ $0.remove(entry) }) else { return false }
    retireAndDiscard(removed)
    return true
  }

  /// - Parameter address: that of an object that the caller holds.
  /// - Returns: the number of removed entries, and that of those whose target is the object and
  ///   alive. The others belong to a dead object that had the address, or the object is dying.
  func removeAll(at address: Int) -> (removed: Int, current: Int) {
    let removed = update { $0.removeAll(at: address) }
    let current = removed.count { !$0.head.pointee.isStale }
    return (retireAndDiscard(removed), current)
  }

  /// - Returns: the number of removed entries.
  func removeAll() -> Int {
    retireAndDiscard(update { $0.removeAll() })
  }

  var count: Int { update { $0.count } }

  /// The number of entries that are not known to be dead, without retaining one.
  var lockedLiveCount: Int {
    update { table in
      var count = 0
      // SAFETY: the table holds the entry.
      table.slots.forEachEntry { _, entry in
        if entry._withUnsafeGuaranteedRef({ !$0.isKnownDead }) { count += 1 }
      }
      return count
    }
  }

  /// The registered entries, each with a retain, read as a change is made: so this thread frees
  /// nothing that others remove meanwhile, as the last reader of a list may.
  func lockedSnapshot() -> ContiguousArray<Entry> {
    update { table in
      var entries: ContiguousArray<Entry> = []
      entries.reserveCapacity(table.count)
      // SAFETY: the table holds the entry, so it can be retained.
      table.slots.forEachEntry { _, entry in entries.append(entry.takeUnretainedValue()) }
      return entries
    }
  }

  func contains(_ address: Int) -> Bool {
    update { $0.registered(at: address) != nil }
  }

  /// Removes those of `dead` that are still registered.
  ///
  /// - Parameter waiting: whether to wait for the lock. If not, and it is taken, removes nothing.
  /// - Returns: the number of removed entries.
  func prune(_ dead: ContiguousArray<Entry>, waiting: Bool) -> Int {
    let change: (inout EntryTable<Slots>) -> ContiguousArray<Entry> = { table in
      var removed: ContiguousArray<Entry> = []
      for entry in dead {
        if let entry = table.remove(.passUnretained(entry)) { removed.append(entry) }
      }
      return removed
    }
    return retireAndDiscard((waiting ? update(change) : updateIfAvailable(change)) ?? [])
  }

  /// Completes a removal, after the critical section.
  private func retireAndDiscard(_ removed: consuming Entry) {
    removed.discardPending()
    retire(removed)
  }

  /// - Returns: the number of removed entries.
  private func retireAndDiscard(_ removed: ContiguousArray<Entry>) -> Int {
    guard !removed.isEmpty else { return 0 }
    for entry in removed { entry.discardPending() }
    retire(removed)
    return removed.count
  }
}
