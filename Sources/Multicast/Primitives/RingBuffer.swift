/// A first-in, first-out queue in a circular array.
///
/// `Array.removeFirst()` moves every element; `popFirst()` moves none, except when a large buffer
/// that has become mostly empty shrinks.
struct RingBuffer<Element> {
  private typealias Storage = RingStorage<Element>

  /// `nil` until the first element is appended.
  private var storage: Storage?

  var count: Int { storage?.count ?? 0 }

  var isEmpty: Bool { count == 0 }

  /// - Complexity: amortised O(1).
  mutating func append(_ element: consuming Element) {
    reserve(1)
    storage.unsafelyUnwrapped.append(element)
  }

  /// - Complexity: amortised O(1).
  mutating func popFirst() -> Element? {
    guard count > 0 else { return nil }
    makeUnique()
    let element = storage.unsafelyUnwrapped.removeFirst()
    shrinkIfMostlyEmpty()
    return element
  }

  /// Appends the first `number` elements of `other`, and removes them there.
  ///
  /// - Complexity: amortised O(`number`).
  mutating func append(first number: Int, of other: inout RingBuffer) {
    precondition(number <= other.count, "\(number) of \(other.count) elements")
    guard number > 0 else { return }
    reserve(number)
    other.makeUnique()
    storage.unsafelyUnwrapped.append(first: number, of: other.storage.unsafelyUnwrapped)
    other.shrinkIfMostlyEmpty()
  }

  /// The element at `offset` from the front.
  subscript(offset: Int) -> Element {
    get {
      requireElement(offset)
      return storage.unsafelyUnwrapped.element(at: offset).pointee
    }
    set {
      requireElement(offset)
      makeUnique()
      storage.unsafelyUnwrapped.element(at: offset).pointee = newValue
    }
  }

  private func requireElement(_ offset: Int) {
    precondition(offset >= 0 && offset < count, "offset \(offset) of \(count) elements")
  }

  /// A buffer with at most this many slots does not shrink.
  private static var keptCapacity: Int { 64 }

  /// Makes space for `number` more elements in storage that no copy shares.
  private mutating func reserve(_ number: Int) {
    let needed = count + number
    if needed <= capacity { return makeUnique() }
    var capacity = max(1, capacity)
    while capacity < needed { capacity *= 2 }
    resize(to: capacity)
  }

  private var capacity: Int { storage?.slotCount ?? 0 }

  private mutating func makeUnique() {
    if !isKnownUniquelyReferenced(&storage), let shared = storage {
      storage = shared.copy()
    }
  }

  private mutating func shrinkIfMostlyEmpty() {
    let capacity = capacity
    if count < capacity / 8 && capacity > Self.keptCapacity { resize(to: capacity / 2) }
  }

  /// Moves the elements to `capacity` slots, a power of two that is at least `count`.
  private mutating func resize(to capacity: Int) {
    let resized = Storage.make(capacity: capacity)
    makeUnique()
    if let storage { resized.append(first: storage.count, of: storage) }
    storage = resized
  }
}

extension RingBuffer: @unchecked Sendable where Element: Sendable {}
// Sendable: a buffer copies storage that it shares before it changes it.

/// The slots of a ``RingBuffer``.
struct RingHeader {
  /// The slot of the first element.
  var head = 0
  var count = 0
  /// The number of slots, a power of two.
  let capacity: Int
}

/// The storage of a ``RingBuffer``.
private final class RingStorage<Element>: ManagedBuffer<RingHeader, Element> {
  deinit {
    withUnsafeMutablePointers { header, slots in
      // SAFETY: the slots from `head` on, `count` of them, are initialised; nothing uses them later.
      RingStorage.forEachRange(header.pointee, header.pointee.count) { slot, count in
        (slots + slot).deinitialize(count: count)
      }
    }
  }

  static func make(capacity: Int) -> RingStorage {
    // SAFETY: `create` makes an instance of the class it is called on.
    unsafeDowncast(
      create(minimumCapacity: capacity) { _ in RingHeader(capacity: capacity) },
      to: RingStorage.self)
  }

  var count: Int { withUnsafeMutablePointerToHeader { $0.pointee.count } }

  var slotCount: Int { withUnsafeMutablePointerToHeader { $0.pointee.capacity } }

  func element(at offset: Int) -> UnsafeMutablePointer<Element> {
    // SAFETY: the caller keeps the storage, and has checked the offset.
    withUnsafeMutablePointers { header, slots in slots + header.pointee.slot(offset) }
  }

  /// Appends to a free slot, which the caller has made sure of.
  func append(_ element: consuming Element) {
    let slot = withUnsafeMutablePointers { header, slots in
      header.pointee.count += 1
      return slots + header.pointee.slot(header.pointee.count - 1)
    }
    // SAFETY: the slot after the last element was free.
    slot.initialize(to: element)
  }

  /// The caller has made sure that there is one.
  func removeFirst() -> Element {
    withUnsafeMutablePointers { header, slots in
      // SAFETY: the slot is initialised, and free from now on.
      let element = (slots + header.pointee.head).move()
      header.pointee.removeFirst(1)
      return element
    }
  }

  /// Moves the first `number` elements of `other`, for which the caller has made space.
  func append(first number: Int, of other: RingStorage) {
    withUnsafeMutablePointers { header, slots in
      other.withUnsafeMutablePointers { otherHeader, otherSlots in
        RingStorage.forEachRange(otherHeader.pointee, number) { source, count in
          var moved = 0
          while moved < count {
            let slot = header.pointee.slot(header.pointee.count)
            let some = min(count - moved, header.pointee.capacity - slot)
            // SAFETY: the free slots from `slot` on do not wrap around; the others are initialised,
            // and free from now on.
            (slots + slot).moveInitialize(from: otherSlots + source + moved, count: some)
            header.pointee.count += some
            moved += some
          }
        }
        otherHeader.pointee.removeFirst(number)
      }
    }
  }

  func copy() -> RingStorage {
    let copy = RingStorage.make(capacity: slotCount)
    for offset in 0..<count { copy.append(element(at: offset).pointee) }
    return copy
  }

  /// Passes the first slot and the length of each contiguous range of the first `number` elements.
  private static func forEachRange(
    _ header: RingHeader, _ number: Int, _ body: (Int, Int) -> Void
  ) {
    let first = min(number, header.capacity - header.head)
    if first > 0 { body(header.head, first) }
    if number > first { body(0, number - first) }
  }
}

extension RingHeader {
  /// The slot of the element at `offset`, or the free slot there.
  func slot(_ offset: Int) -> Int { (head &+ offset) & (capacity &- 1) }

  mutating func removeFirst(_ number: Int) {
    head = slot(number)
    count -= number
  }
}
