// The list of the `waitFree` strategy.
//
//  WaitFreeStorage.current ──▶ ┌ count ┬ capacity ┬ slot 0 ┬ slot 1 ┬ … ┐
//                                                     │        │
//                                                   Entry   (empty)
//
// A writer, under the lock of the storage, fills an unused slot and then publishes a larger count,
// or empties a slot. If every slot is used it fills a new list. It publishes that at the end of its
// critical section, and then retires the old one. A reader, inside a read section, loads the list
// and then the count, and keeps both until the section ends.
//
// Which store pairs with which load:
// - `slot.store` before `count.store`, which releases; `count.load`, which acquires, before
//   `slot.load`. A reader finds every entry below its count, fully initialised. Both accesses of
//   the count are sequentially consistent: `EventHub.finish` relies on the total order.
// - `current.exchange` and `slot.exchange` unlink; both are sequentially consistent, and so are the
//   loads of `current` and of slots, because `ReadIndicator` relies on the total order.
//
// The current list owns a retain of each entry; an old list owns nothing. A removed entry is
// retired, so it outlives every reader that might have found it, in whichever list.

public import CMulticast
public import Synchronization

/// A list of slots: a header, followed by the slots.
@usableFromInline
struct SlotList {
  @usableFromInline typealias Slot = Atomic<Unmanaged<Entry>?>

  @usableFromInline
  struct Header: ~Copyable {
    /// The number of slots that readers may load.
    @usableFromInline let count = Atomic<UInt32>(0)
    /// The number of slots, and ``publishedBit``. Used by the writer alone.
    private var capacityBits: UInt32

    init(capacity: Int) {
      capacityBits = UInt32(capacity)
    }

    private static var publishedBit: UInt32 { 1 << 31 }

    var capacity: Int { Int(capacityBits & ~Header.publishedBit) }

    /// Whether readers may have had the list.
    var isPublished: Bool { capacityBits & Header.publishedBit != 0 }

    mutating func markPublished() { capacityBits |= Header.publishedBit }
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
  @usableFromInline static var prefetchDistance: Int { 3 }

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

  /// Whether this is ``empty``.
  var isShared: Bool { header == Self.empty.header }

  /// Frees the memory, and releases no entry.
  func free() {
    if !isShared { header.deallocate() }
  }
}

/// The list of the writer, which readers find as soon as the storage has published it.
///
/// Its table alone uses it, and no copy of it.
struct PublishedSlots: EntrySlots {
  private var list = SlotList.empty
}

extension PublishedSlots {
  /// The list, if it is a new one, which the caller then publishes.
  ///
  /// - Parameter published: the one that readers use.
  func unpublishedList(after published: SlotList) -> SlotList? {
    guard list.header != published.header else { return nil }
    if !list.isShared { list.header.pointee.markPublished() }
    return list
  }

  private mutating func replaceList(by new: SlotList) {
    if !list.header.pointee.isPublished { list.free() }  // Otherwise the storage retires it.
    list = new
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
    count = Int(list.header.pointee.count.load(ordering: .sequentiallyConsistent))
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

// MARK: - Writing

// Relaxed loads: only the writer changes the list, its count and its slots.
extension PublishedSlots {
  func destroy() {
    // There are no readers or writers.
    forEachEntry { _, entry in entry.release() }
    list.free()
  }

  var used: Int { Int(list.header.pointee.count.load(ordering: .relaxed)) }

  var capacity: Int { list.header.pointee.capacity }

  func forEachEntry(_ body: (Int, Unmanaged<Entry>) -> Void) {
    let slots = list.slots
    for slot in 0..<used {
      if let entry = slots[slot].load(ordering: .relaxed) { body(slot, entry) }
    }
  }

  mutating func append(_ entry: Unmanaged<Entry>) {
    let slot = used
    // Relaxed: published by the count below.
    list.slots[slot].store(entry, ordering: .relaxed)
    perturb()
    // Releasing: a reader that sees the count sees the entry. Sequentially consistent: see
    // `EventHub.finish`.
    list.header.pointee.count.store(UInt32(slot + 1), ordering: .sequentiallyConsistent)
  }

  mutating func remove(at slot: Int) -> Entry {
    // Sequentially consistent: unlinks the entry.
    // SAFETY: the slot owned a retain.
    list.slots[slot].exchange(nil, ordering: .sequentiallyConsistent)!.takeRetainedValue()
  }

  mutating func exchange(_ slot: Int, for entry: Unmanaged<Entry>) -> Entry {
    // Sequentially consistent: unlinks the old entry, and publishes the contents of the new one.
    // SAFETY: the slot owned a retain.
    list.slots[slot].exchange(entry, ordering: .sequentiallyConsistent)!
      .takeRetainedValue()
  }

  mutating func compact(to capacity: Int) {
    let new = SlotList.make(capacity: capacity)
    var count = 0
    forEachEntry { _, entry in
      // Relaxed: published with the list.
      new.slots[count].store(entry, ordering: .relaxed)
      count += 1
    }
    new.header.pointee.count.store(UInt32(count), ordering: .relaxed)  // Relaxed: likewise.
    replaceList(by: new)
  }

  mutating func removeAll() -> ContiguousArray<Entry> {
    var removed: ContiguousArray<Entry> = []
    // SAFETY: each slot owned a retain, and the list is given up.
    forEachEntry { _, entry in removed.append(entry.takeRetainedValue()) }
    replaceList(by: .empty)
    return removed
  }
}
