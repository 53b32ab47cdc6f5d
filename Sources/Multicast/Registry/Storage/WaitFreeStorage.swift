public import Synchronization

/// The `waitFree` strategy: a published list, and the read sections that guard it.
///
/// One object, because most hubs have so few entries that their objects take most of the memory.
@usableFromInline
final class WaitFreeStorage: EntryStorage, @unchecked Sendable {
  // Sendable: `table` is used only inside `lock`; the rest is atomic.

  /// The list that readers use.
  @usableFromInline let current = Atomic(SlotList.empty.header)
  @usableFromInline let reclaimer = Reclaimer()
  /// Held by the writer. Readers never take it.
  private let lock = Lock()
  // Unchecked: the check of exclusive access costs more than most changes, and `lock` gives it.
  @exclusivity(unchecked) private var table = EntryTable(PublishedSlots())

  init() {}
}

// MARK: - Reading

extension Unmanaged<WaitFreeStorage> {
  /// Runs `body` with the registered entries, in a read section.
  // On an unmanaged reference, because an invocation retains nothing. Not `withReadSection`,
  // because a guaranteed reference cannot be held across a closure with a typed error.
  @inlinable @inline(__always)
  func read<E>(
    _ thread: ThreadCallStack.Pointer, _ frame: UnsafeMutablePointer<ThreadCallStack.Frame>,
    isFence: Bool, _ body: (PublishedEntries) throws(E) -> Void
  ) throws(E) {
    // SAFETY: the caller holds the storage.
    _withUnsafeGuaranteedRef { SlotList.prefetch($0.current) }
    let ticket = _withUnsafeGuaranteedRef {
      $0.reclaimer.enter(toOpaque(), thread, frame, isFence: isFence)
    }
    defer { _withUnsafeGuaranteedRef { $0.reclaimer.leave(toOpaque(), frame, ticket) } }
    perturb()
    // Sequentially consistent: see the head of PublishedSlots.swift.
    let list = SlotList(
      _withUnsafeGuaranteedRef { $0.current.load(ordering: .sequentiallyConsistent) })
    perturb()
    try body(PublishedEntries(list))
  }
}

extension WaitFreeStorage {
  /// The registered entries, each with a retain.
  func snapshot() -> ContiguousArray<Entry?> {
    var entries: ContiguousArray<Entry?> = []
    reclaimer.withReadSection(structure) {
      // Sequentially consistent: see the head of PublishedSlots.swift.
      let published = PublishedEntries(SlotList(current.load(ordering: .sequentiallyConsistent)))
      entries.reserveCapacity(published.count)
      // SAFETY: the read section keeps the entry, so it can be retained.
      _ = published.forEach { entry in
        entries.append(entry.takeUnretainedValue())
        return true
      }
    }
    return entries
  }

  /// See `Reclaimer.Structure`.
  private var structure: UnsafeRawPointer {
    UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
  }
}

// MARK: - Writing

extension WaitFreeStorage {
  func update<R>(_ change: (inout EntryTable<PublishedSlots>) -> R) -> R {
    let (result, replaced) = lock.withLock { (change(&table), publish()) }
    if let replaced { retire(replaced) }
    return result
  }

  func updateIfAvailable<R>(_ change: (inout EntryTable<PublishedSlots>) -> R) -> R? {
    let attempt = lock.withLockIfAvailable { (change(&table), publish()) }
    guard let (result, replaced) = attempt else { return nil }
    if let replaced { retire(replaced) }
    return result
  }

  /// Publishes the list of the table if it is a new one. Inside the lock.
  ///
  /// - Returns: the old list, to be retired after unlock.
  private func publish() -> SlotList? {
    // Relaxed: only the writer changes it.
    let published = SlotList(current.load(ordering: .relaxed))
    guard let new = table.slots.unpublishedList(after: published) else { return nil }
    // Sequentially consistent: unlinks the old list, and publishes the contents of the new one.
    return SlotList(current.exchange(new.header, ordering: .sequentiallyConsistent))
  }

  private func retire(_ list: SlotList) {
    guard !list.isShared else { return }
    reclaimer.retire(RetiredSlotList(list), of: structure)
  }

  func retire(_ removed: consuming Entry) {
    var list = RetiredList()
    list.prepend(removed)
    reclaimer.retire(list, of: structure)
  }

  func retire(_ removed: ContiguousArray<Entry>) {
    var list = RetiredList()
    for entry in removed.reversed() { list.prepend(entry) }
    reclaimer.retire(list, of: structure)
  }
}

/// An old list that waits for its last reader.
private final class RetiredSlotList: RetiredObject {
  private let slots: SlotList

  init(_ slots: SlotList) {
    self.slots = slots
  }

  deinit { slots.free() }
}

extension RetiredList {
  /// Takes over the caller's retain of a removed entry, and makes it the first one. It has left the
  /// index, so the link is its `next`.
  fileprivate mutating func prepend(_ entry: consuming Entry) {
    let entry = Unmanaged.passRetained(entry)
    // SAFETY: the list owns a retain of the entry from here on, and `next` is a word of it.
    withUnsafeMutablePointer(to: &entry.head.pointee.next) { next in
      prepend(.fromOpaque(entry.toOpaque()), link: UnsafeMutableRawPointer(next))
    }
  }
}
