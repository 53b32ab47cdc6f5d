/// How a registry keeps its entries: the one thing in which the strategies differ.
///
/// A strategy answers two questions: how a reader gets hold of the entries that are registered now,
/// and when something that was removed may be destroyed.
///
/// ## Thread safety
/// Every requirement may be called from any thread. `change` is a critical section: it runs no user
/// code and returns what is to be retired.
protocol EntryStorage: AnyObject, Sendable {
  associatedtype Slots: EntrySlots

  /// The entries that are registered now, in order, retained; `nil` where one was removed.
  func snapshot() -> ContiguousArray<Entry?>

  /// Changes the table, alone.
  func update<R>(_ change: (inout EntryTable<Slots>) -> R) -> R

  /// Changes the table if nobody else is changing or reading it at this moment, or returns `nil`.
  func updateIfAvailable<R>(_ change: (inout EntryTable<Slots>) -> R) -> R?

  /// Lets go of an entry that `change` has removed, as soon as no reader can be using it.
  func retire(_ removed: Entry)

  /// Lets go of many at once.
  func retire(_ removed: ContiguousArray<Entry>)

  // All of these have one implementation, below. They are requirements so that the compiler makes
  // one of each for each strategy, instead of one that asks for the types of its strategy at run
  // time.

  func insert(_ entry: Entry, duplicates: DuplicatePolicy, mayGrow: Bool) -> Insertion
  func exchange(_ existing: Entry, for entry: Entry) -> Bool
  func remove(_ entry: Entry) -> Bool
  func removeAll(at address: Int) -> Int
  func removeAll() -> Int
  func contains(_ address: Int) -> Bool
  func prune(_ dead: ContiguousArray<Entry>, waiting: Bool) -> Int
  var count: Int { get }
}

extension EntryStorage {
  // A reader of these storages holds what it reads: letting go is releasing.
  func retire(_ removed: Entry) {}
  func retire(_ removed: ContiguousArray<Entry>) {}
}

// MARK: - What every storage can do

extension EntryStorage {
  func insert(_ entry: Entry, duplicates: DuplicatePolicy, mayGrow: Bool) -> Insertion {
    let insertion = update { $0.insert(entry, duplicates: duplicates, mayGrow: mayGrow) }
    if case .replaced(let old) = insertion { retireAndDiscard(old) }
    return insertion
  }

  /// - Returns: whether `existing` was registered, and `entry` is now.
  func exchange(_ existing: Entry, for entry: Entry) -> Bool {
    guard let old = update({ $0.exchange(existing, for: entry) }) else { return false }
    retireAndDiscard(old)
    return true
  }

  func remove(_ entry: Entry) -> Bool {
    guard let removed = update({ $0.remove(entry) }) else { return false }
    retireAndDiscard(removed)
    return true
  }

  /// - Returns: how many were removed.
  func removeAll(at address: Int) -> Int {
    let removed = update { $0.removeAll(at: address) }
    if !removed.isEmpty { retireAndDiscard(removed) }
    return removed.count
  }

  /// - Returns: how many were removed.
  func removeAll() -> Int {
    let removed = update { $0.removeAll() }
    if !removed.isEmpty { retireAndDiscard(removed) }
    return removed.count
  }

  var count: Int { update { $0.count } }

  /// What happens to an entry that was removed, after the critical section.
  private func retireAndDiscard(_ removed: Entry) {
    removed.discardPending()
    retire(removed)
  }

  private func retireAndDiscard(_ removed: ContiguousArray<Entry>) {
    for entry in removed { entry.discardPending() }
    retire(removed)
  }

  func contains(_ address: Int) -> Bool {
    update { $0.registered(at: address) != nil }
  }

  /// Removes those of `dead` that are still registered.
  ///
  /// - Parameter waiting: whether to wait for the lock. If not, and it is taken, nothing is
  ///   removed.
  /// - Returns: how many were removed.
  func prune(_ dead: ContiguousArray<Entry>, waiting: Bool) -> Int {
    let change: (inout EntryTable<Slots>) -> ContiguousArray<Entry> = { table in
      var removed: ContiguousArray<Entry> = []
      for entry in dead {
        if let entry = table.remove(entry) { removed.append(entry) }
      }
      return removed
    }
    guard let removed = waiting ? update(change) : updateIfAvailable(change) else { return 0 }
    if !removed.isEmpty { retireAndDiscard(removed) }
    return removed.count
  }
}
