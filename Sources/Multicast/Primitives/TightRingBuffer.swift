/// A first-in, first-out queue in a circular buffer with few free slots: at most a quarter as many
/// as elements after it has grown, and half as many after it has shrunk.
///
/// For many elements that stay long. A ``RingBuffer`` has up to as many free slots as elements, or
/// more after a burst, and is faster.
struct TightRingBuffer<Element>: ~Copyable {
  // SAFETY, of all access: exactly the `count` slots from `head` on, modulo `slotCount`, are
  // initialised, and the buffer owns them.

  /// `nil`: no slots.
  private var slots: UnsafeMutablePointer<Element>?
  private var slotCount = 0
  /// The slot of the first element.
  private var head = 0
  private(set) var count = 0
  /// The number of elements beyond which no slots are added in advance.
  private let expected: Int

  /// - Parameter expected: the most elements, if that is known.
  init(expected: Int = .max) {
    self.expected = expected
  }

  deinit {
    for offset in 0..<count { pointer(offset).deinitialize(count: 1) }
    slots?.deallocate()
  }

  var isEmpty: Bool { count == 0 }

  /// - Complexity: amortised O(1).
  @inline(__always)
  mutating func append(_ element: Element) {
    if count == slotCount { grow() }
    pointer(count).initialize(to: element)
    count += 1
  }

  /// - Complexity: amortised O(1).
  @inline(__always)
  mutating func popFirst() -> Element? {
    guard count > 0 else { return nil }
    let element = pointer(0).move()
    head = head + 1 == slotCount ? 0 : head + 1
    count -= 1
    if slotCount > 64 && count < slotCount - slotCount / 3 { resize(to: count + count / 4) }
    return element
  }

  /// Removes the first element and appends another one.
  ///
  /// - Precondition: there is an element, and no free slot.
  /// - Returns: the element that was the first.
  @inline(__always)
  mutating func rotate(_ element: Element) -> Element {
    // SAFETY: the slot is initialised, and is the first and the next free one in turn.
    let slot = slots.unsafelyUnwrapped + head
    let first = slot.move()
    slot.initialize(to: element)
    head = head + 1 == slotCount ? 0 : head + 1
    return first
  }

  /// The element at `offset` from the front.
  subscript(offset: Int) -> Element {
    get {
      precondition(offset >= 0 && offset < count, "offset \(offset) of \(count) elements")
      return pointer(offset).pointee
    }
    set {
      precondition(offset >= 0 && offset < count, "offset \(offset) of \(count) elements")
      pointer(offset).pointee = newValue
    }
  }

  /// The slot of the element at `offset`, or the free one behind the elements.
  @inline(__always)
  private func pointer(_ offset: Int) -> UnsafeMutablePointer<Element> {
    let toEnd = slotCount - head
    return slots.unsafelyUnwrapped + (offset < toEnd ? head + offset : offset - toEnd)
  }

  @inline(never)
  private mutating func grow() {
    let grown = count < 16 ? max(1, count * 2) : count + count / 4
    resize(to: count < expected ? min(grown, expected) : grown)
  }

  /// Moves the elements to `newCount` slots, at least `count`.
  @inline(never)
  private mutating func resize(to newCount: Int) {
    let resized = UnsafeMutablePointer<Element>.allocate(capacity: newCount)
    // The elements are at most two runs: up to the last slot, and from the first one on.
    let first = min(count, slotCount - head)
    if let slots {
      resized.moveInitialize(from: slots + head, count: first)
      (resized + first).moveInitialize(from: slots, count: count - first)
      slots.deallocate()
    }
    slots = resized
    slotCount = newCount
    head = 0
  }
}

extension TightRingBuffer: @unchecked Sendable where Element: Sendable {
  // Sendable: a value, which owns its memory.
}

extension TightRingBuffer {
  /// The number of slots, which take memory.
  var capacity: Int { slotCount }
}
