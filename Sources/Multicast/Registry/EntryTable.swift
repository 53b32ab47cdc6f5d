internal import Synchronization

/// The entries of a storage: their slots, an index by identity, and their count.
///
/// Plain data, guarded by the lock of the storage. It runs no user code and destroys no entry: it
/// returns those that it removes.
struct EntryTable<Slots: EntrySlots>: ~Copyable {
  private var index = IdentityIndex()
  // 32 bits, and in this order: a table takes 24 bytes in most hubs.
  private var entries: UInt32 = 0
  private(set) var slots: Slots

  init(_ slots: Slots) {
    self.slots = slots
  }

  deinit { slots.destroy() }

  /// The number of entries in the slots, including dead ones.
  private(set) var count: Int {
    get { Int(entries) }
    set { entries = UInt32(newValue) }
  }
}

/// The outcome of an insertion.
enum Insertion {
  case added
  /// The entry was added; this one, of the same delegate, was removed.
  case replaced(Entry)
  /// The entry was not added: this one has the same delegate.
  case exists(Entry)
  /// The entry was not added: every slot is used, perhaps by dead entries.
  case full
}

extension EntryTable {
  /// Adds `entry` at the end, and takes over a retain of it, unless `duplicates` says otherwise.
  ///
  /// - Parameter mayGrow: whether to compact if every slot is used. If not, the outcome is `full`;
  ///   the caller prunes and tries again, which bounds the memory that dead entries use.
  /// - Complexity: amortised O(1).
  mutating func insert(
    _ entry: Unmanaged<Entry>, duplicates: DuplicatePolicy, mayGrow: Bool
  ) -> Insertion {
    var existing: Unmanaged<Entry>?
    if duplicates != .allow {
      existing = registered(at: entry.head.pointee.address)
      // SAFETY: the slots hold the entry.
      if duplicates == .ignore, let existing { return .exists(existing.takeUnretainedValue()) }
    }
    if slots.used == slots.capacity {
      guard mayGrow || slots.capacity == 0 else { return .full }
      grow()
    }
    guard let existing else {
      append(entry)
      return .added
    }
    // In this order: a reader whose count includes the new entry finds the old one inactive, so no
    // invocation calls both. The store of the count releases, and its load acquires.
    let old = take(existing, from: Int(existing.head.pointee.slot))
    append(entry)
    return .replaced(old)
  }

  /// Puts `entry` into the slot of `existing`, an entry with the same delegate, and takes over a
  /// retain of it, if `existing` is still registered.
  ///
  /// A running invocation calls at most one of the two, because it reads each slot once.
  ///
  /// - Returns: the old entry, or `nil` if it is no longer registered.
  /// - Complexity: O(1).
  mutating func exchange(_ existing: Entry, for entry: Unmanaged<Entry>) -> Entry? {
    // Relaxed: it changes only under the lock.
    let state = existing.head.pointee.state.load(ordering: .relaxed)
    guard EntryHead.isActive(state) else { return nil }
    let slot = existing.head.pointee.slot
    deactivate(.passUnretained(existing))
    entry.head.pointee.slot = slot
    index.insert(entry, of: slots.capacity)
    return slots.exchange(Int(slot), for: entry)
  }

  /// Removes `entry` if it is registered.
  ///
  /// - Parameter entry: perhaps a dead one, of which only the memory is left. It is inactive then.
  /// - Complexity: amortised O(1).
  mutating func remove(_ entry: Unmanaged<Entry>) -> Entry? {
    // Relaxed: it changes only under the lock.
    let state = entry.head.pointee.state.load(ordering: .relaxed)
    guard EntryHead.isActive(state) else { return nil }
    let removed = take(entry, from: Int(entry.head.pointee.slot))
    compactIfSparse()
    return removed
  }

  /// Removes every entry whose target has, or had, this address.
  ///
  /// - Complexity: amortised O(1) for each removed entry.
  mutating func removeAll(at address: Int) -> ContiguousArray<Entry> {
    var removed: ContiguousArray<Entry> = []
    while let entry = index.first(at: address) {
      removed.append(take(entry, from: Int(entry.head.pointee.slot)))
    }
    compactIfSparse()
    return removed
  }

  /// Removes every entry.
  mutating func removeAll() -> ContiguousArray<Entry> {
    let removed = slots.removeAll()
    for entry in removed {
      // Sequentially consistent: as in `take`.
      entry.head.pointee.state.bitwiseAnd(EntryHead.finished, ordering: .sequentiallyConsistent)
      entry.head.pointee.origin.record?.uncount()
    }
    index = IdentityIndex()
    count = 0
    return removed
  }

  /// The newest entry whose target is the object at `address`, which the caller holds: checking
  /// whether it is alive cannot make this thread its last owner.
  func registered(at address: Int) -> Unmanaged<Entry>? {
    var candidate = index.first(at: address)
    while let entry = candidate {
      if !entry.head.pointee.isStale { return entry }
      candidate = index.next(after: entry)
    }
    return nil
  }

  private mutating func append(_ entry: Unmanaged<Entry>) {
    entry.head.pointee.slot = UInt32(slots.used)
    index.insert(entry, of: slots.capacity)
    slots.append(entry)
    count += 1
  }

  private mutating func take(_ entry: Unmanaged<Entry>, from slot: Int) -> Entry {
    deactivate(entry)
    count -= 1
    return slots.remove(at: slot)
  }

  /// Makes `entry` inactive and removes it from the index. It keeps its slot.
  private mutating func deactivate(_ entry: Unmanaged<Entry>) {
    // Releasing would be enough: a thread that finds the entry inactive sees what happened before,
    // and `cancelAndWait` has its barrier. Sequentially consistent, because only a removal pays for
    // it. Stored before the slot is emptied, for readers of an older list.
    entry.head.pointee.state.bitwiseAnd(EntryHead.finished, ordering: .sequentiallyConsistent)
    perturb()
    entry.head.pointee.origin.record?.uncount()
    index.remove(entry)
  }
}

// MARK: - Compaction

extension EntryTable {
  /// A list of so many slots is not worth compacting.
  private static var sparseLimit: Int { 16 }

  /// Makes unused slots for an entry, when every slot is used.
  ///
  /// - Complexity: O(`count`), after at least a proportional number of changes.
  private mutating func grow() {
    // If most slots are in use, entries are being added: fewer steps while the list is small.
    // Otherwise they come and go: as many unused slots as entries, before it is compacted again.
    let isChurn = count < slots.capacity
    compact(to: max(min((isChurn ? 2 : 4) * count, count + 32), count + count / 2 + 1))
  }

  private mutating func compactIfSparse() {
    if slots.used > Self.sparseLimit && count < slots.used / 2 {
      compact(to: count + count / 2 + 1)
    }
  }

  /// Closes the gaps, and makes at least `minimum` slots.
  ///
  /// - Complexity: O(`count`).
  private mutating func compact(to minimum: Int) {
    var capacity = 1
    while capacity < minimum { capacity *= 2 }
    require(capacity <= 1 << 28, "Multicast: more than 2^28 registrations in one hub")
    slots.compact(to: capacity)
    slots.forEachEntry { slot, entry in entry.head.pointee.slot = UInt32(slot) }
    index.rebuild(for: capacity, slots)
  }
}

extension EntryHead {
  /// Whether another object may live at the address of the target. Inside a critical section, read
  /// it only if the caller holds the object there: see `registered(at:)`.
  var isStale: Bool {
    isWeak && WeakReference(word: target).isStale
  }
}
