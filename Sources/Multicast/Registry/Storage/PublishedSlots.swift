// The list of the `waitFree` strategy.
//
//     PublishedSlots.current ──▶ ┌ count ┬ capacity ┬ slot 0 ┬ slot 1 ┬ … ┐
//                                                       │        │
//                                                     Entry    (empty)
//
// A writer, under the lock of the storage, fills an unused slot and then publishes a larger count,
// or empties a slot. If every slot is used it fills a new list, publishes that, and retires the old
// one. A reader, inside a read section, loads the list and then the count, and keeps both until the
// section ends.
//
// Which store pairs with which load:
// - `slot.store` before `count.store` (releasing); `count.load` (acquiring) before `slot.load`. A
//   reader finds every entry below its count, fully initialised.
// - `current.exchange` and `slot.exchange` unlink; both are sequentially consistent, and so are the
//   loads of `current` and of slots, because `ReadIndicator` relies on the total order.
//
// The current list owns a retain of each entry; an old list owns nothing. A removed entry is retired,
// so it outlives every reader that might have found it, in whichever list.

public import CMulticast
public import Synchronization

/// A list of slots: a header, followed by the slots.
@usableFromInline
struct SlotList {
  @usableFromInline typealias Slot = Atomic<Unmanaged<Entry>?>

  @usableFromInline
  struct Header: ~Copyable {
    /// The number of slots that readers may load.
    @usableFromInline let count = Atomic<Int>(0)
    let capacity: Int
  }

  @usableFromInline let header: UnsafeMutablePointer<Header>

  @inlinable
  init(_ header: UnsafeMutablePointer<Header>) {
    self.header = header
  }

  @inlinable var slots: UnsafeMutablePointer<Slot> {
    // SAFETY: `make` has bound the memory after the header, which is aligned as a slot is.
    UnsafeMutableRawPointer(header + 1).assumingMemoryBound(to: Slot.self)
  }

  static func make(capacity: Int) -> SlotList {
    // SAFETY: allocates a header, `capacity` slots and those that are only prefetched, and
    // initialises all of them.
    let total = capacity + prefetchDistance
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: MemoryLayout<Header>.stride + total * MemoryLayout<Slot>.stride, alignment: 16)
    let header = memory.bindMemory(to: Header.self, capacity: 1)
    header.initialize(to: Header(capacity: capacity))
    let list = SlotList(header)
    (memory + MemoryLayout<Header>.stride).bindMemory(to: Slot.self, capacity: total)
    for slot in 0..<total { (list.slots + slot).initialize(to: Slot(nil)) }
    return list
  }

  /// The number of slots that an invocation prefetches ahead. As many empty slots follow the last
  /// one, so the loop need not check where the list ends.
  @usableFromInline static var prefetchDistance: Int { 4 }

  /// Prefetches the entry a few slots after `slot`.
  @inlinable @inline(__always)
  static func prefetch(_ slot: UnsafeMutablePointer<Slot>) {
    // Relaxed: nothing is read through it. The entry may be freed: any address may be prefetched.
    let entry = (slot + prefetchDistance).pointee.load(ordering: .relaxed)
    cmulticast_prefetch(entry?.toOpaque(), Entry.hotOffset)
  }

  /// Prefetches the current list, which may be freed in the meantime.
  @inlinable @inline(__always)
  static func prefetch(_ list: borrowing Atomic<UnsafeMutablePointer<Header>>) {
    // Relaxed: nothing is read through it.
    cmulticast_prefetch(list.load(ordering: .relaxed), 0)
  }

  /// The list without slots of every hub that never had an entry.
  // SAFETY: nothing writes to it: it has no slots, and its count stays 0. It is never freed.
  nonisolated(unsafe) static let empty = make(capacity: 0)

  /// Frees the memory, and releases no entry.
  func free() {
    if header != Self.empty.header { header.deallocate() }
  }
}

/// An old list that waits for its last reader.
private final class RetiredSlotList {
  private let list: SlotList

  init(_ list: SlotList) {
    self.list = list
  }

  deinit { list.free() }
}

/// The published list of entries, and the read sections that guard it.
///
/// ## Thread safety
/// Any thread may read. Only the writer may call the requirements of `EntrySlots`.
@usableFromInline
final class PublishedSlots: EntrySlots, @unchecked Sendable {
  // Sendable: readers use only what is atomic or never changes; the writer holds a lock.
  @usableFromInline let current: Atomic<UnsafeMutablePointer<SlotList.Header>>
  @usableFromInline let reclaimer = Reclaimer()
  /// Lists that the writer has unlinked, and retires after its unlock.
  @exclusivity(unchecked) private var replaced: ContiguousArray<SlotList> = []

  init() {
    current = Atomic(SlotList.empty.header)
  }

  deinit {
    // There are no readers or writers.
    forEachEntry { _, entry in entry.release() }
    list.free()
    for list in replaced { list.free() }
  }
}

// MARK: - Reading

/// The entries that were registered when a read section began, without those removed since.
@usableFromInline
struct PublishedEntries {
  @usableFromInline let slots: UnsafeMutablePointer<SlotList.Slot>
  @usableFromInline let count: Int

  @inlinable @inline(__always)
  init(_ list: SlotList) {
    slots = list.slots
    // Acquiring: pairs with the store in `append`. Sequentially consistent: see `EventHub.finish`.
    count = list.header.pointee.count.load(ordering: .sequentiallyConsistent)
  }

  /// Runs `step` for each entry, in order, until it returns `false`.
  ///
  /// - Returns: whether `step` always returned `true`.
  @inlinable @inline(__always)
  func forEach<E>(
    _ step: (Unmanaged<Entry>) throws(E) -> Bool
  ) throws(E) -> Bool {
    var slot = slots
    let end = slot + count
    while slot != end {
      SlotList.prefetch(slot)
      // Sequentially consistent: see the head of this file.
      if let entry = slot.pointee.load(ordering: .sequentiallyConsistent) {
        perturb()
        guard try step(entry) else { return false }
      }
      slot += 1
    }
    return true
  }
}

extension Unmanaged<PublishedSlots> {
  /// Runs `body` with the registered entries, in a read section.
  // On an unmanaged reference, because an invocation retains nothing. Not `withReadSection`, because
  // a guaranteed reference cannot be held across a closure with a typed error.
  @inlinable @inline(__always)
  func read<E>(
    _ thread: ThreadCallStack.Pointer, _ frame: UnsafeMutablePointer<ThreadCallStack.Frame>,
    isFence: Bool, _ body: (PublishedEntries) throws(E) -> Void
  ) throws(E) {
    // SAFETY: the caller holds the slots.
    _withUnsafeGuaranteedRef { SlotList.prefetch($0.current) }
    let ticket = _withUnsafeGuaranteedRef {
      $0.reclaimer.enter(toOpaque(), thread, frame, isFence: isFence)
    }
    defer { _withUnsafeGuaranteedRef { $0.reclaimer.leave(toOpaque(), frame, ticket) } }
    perturb()
    // Sequentially consistent: see the head of this file.
    let list = SlotList(
      _withUnsafeGuaranteedRef { $0.current.load(ordering: .sequentiallyConsistent) })
    perturb()
    try body(PublishedEntries(list))
  }
}

extension PublishedSlots {
  /// The registered entries, each with a retain.
  func snapshot() -> ContiguousArray<Entry?> {
    var entries: ContiguousArray<Entry?> = []
    reclaimer.withReadSection(structure) {
      // Sequentially consistent: see the head of this file.
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
}

// MARK: - Writing

// Relaxed loads: only the writer changes the list, its count and its slots.
extension PublishedSlots {
  private var list: SlotList { SlotList(current.load(ordering: .relaxed)) }

  var used: Int { list.header.pointee.count.load(ordering: .relaxed) }

  var capacity: Int { list.header.pointee.capacity }

  func forEachEntry(_ body: (Int, Unmanaged<Entry>) -> Void) {
    let slots = list.slots
    for slot in 0..<used {
      if let entry = slots[slot].load(ordering: .relaxed) { body(slot, entry) }
    }
  }

  func append(_ entry: Entry) {
    let list = list
    let slot = used
    // Relaxed: published by the count below.
    list.slots[slot].store(.passRetained(entry), ordering: .relaxed)
    perturb()
    // Releasing: a reader that sees the count sees the entry. Sequentially consistent: see
    // `EventHub.finish`.
    list.header.pointee.count.store(slot + 1, ordering: .sequentiallyConsistent)
  }

  func remove(at slot: Int) -> Entry {
    // Sequentially consistent: unlinks the entry.
    list.slots[slot].exchange(nil, ordering: .sequentiallyConsistent)!.takeRetainedValue()
  }

  func exchange(_ slot: Int, for entry: Entry) -> Entry {
    // Sequentially consistent: unlinks the old entry, and publishes the contents of the new one.
    list.slots[slot].exchange(.passRetained(entry), ordering: .sequentiallyConsistent)!
      .takeRetainedValue()
  }

  func compact(to capacity: Int) {
    let new = SlotList.make(capacity: capacity)
    var count = 0
    forEachEntry { _, entry in
      // Relaxed: published with the list below.
      new.slots[count].store(entry, ordering: .relaxed)
      count += 1
    }
    new.header.pointee.count.store(count, ordering: .relaxed)  // Relaxed: likewise.
    publish(new)
  }

  func removeAll() -> ContiguousArray<Entry> {
    var removed: ContiguousArray<Entry> = []
    forEachEntry { _, entry in removed.append(entry.takeRetainedValue()) }
    publish(.empty)
    return removed
  }

  private func publish(_ new: SlotList) {
    // Sequentially consistent: unlinks the old list, and publishes the contents of the new one.
    let old = current.exchange(new.header, ordering: .sequentiallyConsistent)
    if old != SlotList.empty.header { replaced.append(SlotList(old)) }
  }

  /// The lists unlinked since the last call, to be passed to ``retire(_:)`` after unlock.
  func takeReplaced() -> ContiguousArray<SlotList> {
    guard !replaced.isEmpty else { return [] }
    defer { replaced = [] }
    return replaced
  }

  func retire(_ lists: ContiguousArray<SlotList>) {
    for list in lists { reclaimer.retire(RetiredSlotList(list), of: structure) }
  }

  func retire(_ entries: RetiredList) {
    reclaimer.retire(entries, of: structure)
  }

  /// See `Reclaimer.Structure`.
  private var structure: UnsafeRawPointer {
    UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
  }
}
