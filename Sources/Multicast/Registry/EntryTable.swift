internal import Synchronization

/// Where a storage keeps its entries: a list in which an entry keeps its place.
///
/// A slot that is emptied stays empty until ``compact(to:)``, so that removing is O(1).
protocol EntrySlots {
  /// How many places were taken since the last compaction, empty ones among them.
  var used: Int { get }
  /// How many places there are.
  var capacity: Int { get }
  /// The entries that are there, in order.
  var entries: ContiguousArray<Unmanaged<Entry>> { get }
  /// Puts `entry` behind the last place that is used. There must be room.
  mutating func append(_ entry: Entry)
  /// Puts `entry` into `slot` and returns what was there, to be released outside the critical
  /// section.
  mutating func exchange(_ slot: Int, for entry: Entry) -> Entry
  /// Empties `slot` and returns what was there, to be released outside the critical section.
  mutating func remove(at slot: Int) -> Entry
  /// Closes the gaps, in order, and makes `capacity` places.
  mutating func compact(to capacity: Int)
  /// Empties every place and returns what was there, in order.
  mutating func removeAll() -> ContiguousArray<Entry>
}

/// What a storage knows of its entries: where they are, whose they are, and how many.
///
/// Plain data, to be changed by one thread at a time, under the lock of the storage. It runs no
/// user code and destroys no entry: what it removes it returns.
struct EntryTable<Slots: EntrySlots> {
  private(set) var slots: Slots
  private var index = IdentityIndex()
  /// How many entries are in the slots, dead ones among them.
  private(set) var count = 0

  init(_ slots: Slots) {
    self.slots = slots
  }
}

/// What became of an entry that was to be added.
enum Insertion {
  /// It was added.
  case added
  /// It was added in place of this one.
  case replaced(Entry)
  /// It was not added: this one has the same delegate.
  case exists(Entry)
  /// It was not added: every place is taken, and some might be taken by the dead.
  case full
}

extension EntryTable {
  /// Adds `entry` at the end, unless `duplicates` says otherwise.
  ///
  /// - Parameter mayGrow: whether to make room if every place is taken. If not, the answer is
  ///   `full`; the caller prunes and comes again. That is what bounds the memory kept for the dead.
  /// - Complexity: amortised O(1).
  mutating func insert(_ entry: Entry, duplicates: DuplicatePolicy, mayGrow: Bool) -> Insertion {
    var existing: Unmanaged<Entry>?
    if duplicates != .allowed {
      existing = registered(at: entry.head.pointee.address)
      if duplicates == .ignored, let existing { return .exists(existing.takeUnretainedValue()) }
    }
    if slots.used == slots.capacity {
      guard mayGrow else { return .full }
      compact()
    }
    guard let existing else {
      append(entry)
      return .added
    }
    // In this order: a reader whose count includes the new one finds the old one inactive, so that
    // nobody calls both. The count is stored with release, and loaded with acquire.
    let old = take(existing, from: Int(existing.head.pointee.slot))
    append(entry)
    return .replaced(old)
  }

  /// Puts `entry` in the place of `existing`, an entry with the same delegate, if that is still
  /// registered.
  ///
  /// A running invocation calls one of the two, or neither: it reads each slot once, and finds the
  /// old entry inactive or the new one.
  ///
  /// - Returns: the old entry, or `nil` if it was not registered any more.
  /// - Complexity: O(1).
  mutating func exchange(_ existing: Entry, for entry: Entry) -> Entry? {
    // Relaxed: it changes under the lock only.
    let state = existing.head.pointee.state.load(ordering: .relaxed)
    guard EntryHead.isActive(state) else { return nil }
    let slot = existing.head.pointee.slot
    deactivate(.passUnretained(existing))
    entry.head.pointee.slot = slot
    index.insert(.passUnretained(entry))
    return slots.exchange(Int(slot), for: entry)
  }

  /// Removes `entry` if it is registered.
  ///
  /// - Complexity: amortised O(1).
  mutating func remove(_ entry: Entry) -> Entry? {
    // Relaxed: it changes under the lock only.
    let state = entry.head.pointee.state.load(ordering: .relaxed)
    guard EntryHead.isActive(state) else { return nil }
    let removed = take(.passUnretained(entry), from: Int(entry.head.pointee.slot))
    compactIfSparse()
    return removed
  }

  /// Removes every entry whose target has this address.
  ///
  /// - Complexity: amortised O(1) for each entry that is removed.
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
      entry.head.pointee.state.store(EntryHead.inactive, ordering: .sequentiallyConsistent)
    }
    index = IdentityIndex()
    count = 0
    return removed
  }

  /// The entry whose target is the living object at `address`; the newest if there are several.
  ///
  /// The caller holds that object, so looking whether it lives cannot make us its last owner.
  func registered(at address: Int) -> Unmanaged<Entry>? {
    var candidate = index.first(at: address)
    while let entry = candidate {
      if !entry.head.pointee.isStale { return entry }
      candidate = index.next(after: entry)
    }
    return nil
  }

  private mutating func append(_ entry: Entry) {
    entry.head.pointee.slot = UInt32(slots.used)
    index.insert(.passUnretained(entry))
    slots.append(entry)
    count += 1
  }

  private mutating func take(_ entry: Unmanaged<Entry>, from slot: Int) -> Entry {
    deactivate(entry)
    count -= 1
    return slots.remove(at: slot)
  }

  /// The entry is called no more, and found no more by its delegate; it still has its slot.
  private mutating func deactivate(_ entry: Unmanaged<Entry>) {
    // Sequentially consistent: the thread that retires the entry afterwards, and `cancelAndWait`,
    // rely on it. It comes before the slot is emptied, for readers of an older list.
    entry.head.pointee.state.store(EntryHead.inactive, ordering: .sequentiallyConsistent)
    perturb()
    index.remove(entry)
  }
}

// MARK: - Room

extension EntryTable {
  /// The smallest list there is.
  static var minimumCapacity: Int { 4 }

  /// Closes the gaps and leaves room for half as many entries again.
  ///
  /// - Complexity: O(`count`), after at least a proportional number of changes.
  private mutating func compact() {
    var capacity = Self.minimumCapacity
    while capacity < count + count / 2 + 1 { capacity *= 2 }
    require(capacity <= UInt32.max, "Multicast: more than 2^31 registrations in one hub")
    slots.compact(to: capacity)
    let entries = slots.entries
    for (slot, entry) in entries.enumerated() { entry.head.pointee.slot = UInt32(slot) }
    index.rebuild(for: capacity, entries)
  }

  private mutating func compactIfSparse() {
    if slots.used > 4 * Self.minimumCapacity && count < slots.used / 2 { compact() }
  }
}

extension EntryHead {
  /// Whether another object may live at the address of the target by now.
  fileprivate var isStale: Bool {
    isWeak && WeakReference(word: target).isStale
  }
}
