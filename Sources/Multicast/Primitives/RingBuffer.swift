/// A first-in, first-out queue in a circular buffer.
///
/// `Array.removeFirst()` moves every element; `popFirst()` moves none, except when a large buffer
/// that has become mostly empty shrinks. A buffer that never had an element has no memory. It
/// cannot be copied, so no access has to check whether its memory is shared.
struct RingBuffer<Element>: ~Copyable {
  // SAFETY, of all access: exactly the `count` slots from `head` on, modulo `slotCount`, are
  // initialised, and the buffer owns them.

  /// `nil`: no slots.
  private var slots: UnsafeMutablePointer<Element>?
  /// A power of two, or zero.
  private var slotCount = 0
  /// The slot of the first element.
  private var head = 0
  private(set) var count = 0

  init() {}

  deinit {
    for offset in 0..<count { pointer(offset).deinitialize(count: 1) }
    slots?.deallocate()
  }

  var isEmpty: Bool { count == 0 }

  /// - Complexity: amortised O(1).
  @inline(__always)
  mutating func append(_ element: Element) {
    if count == slotCount { resize(to: max(1, slotCount * 2)) }
    pointer(count).initialize(to: element)
    count += 1
  }

  /// - Complexity: amortised O(1).
  @inline(__always)
  mutating func popFirst() -> Element? {
    guard count > 0 else { return nil }
    let element = pointer(0).move()
    head = (head + 1) & (slotCount - 1)
    count -= 1
    if isMostlyEmpty { resize(to: slotCount / 2) }
    return element
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

  /// The offset of an element that satisfies `isMatch`: of the one that is nearest to an end.
  ///
  /// - Complexity: O(n), where n is the number of elements between it and that end.
  func offset(where isMatch: (Element) -> Bool) -> Int? {
    for offset in 0..<(count + 1) / 2 {
      if isMatch(pointer(offset).pointee) { return offset }
      if isMatch(pointer(count - 1 - offset).pointee) { return count - 1 - offset }
    }
    return nil
  }

  /// Removes the element at `offset` from the front.
  ///
  /// - Complexity: O(n), where n is the number of elements before it, or behind it if that is less.
  mutating func remove(at offset: Int) -> Element {
    precondition(offset >= 0 && offset < count, "offset \(offset) of \(count) elements")
    let element = pointer(offset).move()
    if offset < count / 2 {
      for index in (0..<offset).reversed() {
        pointer(index + 1).moveInitialize(from: pointer(index), count: 1)
      }
      head = (head + 1) & (slotCount - 1)
    } else {
      for index in offset..<count - 1 {
        pointer(index).moveInitialize(from: pointer(index + 1), count: 1)
      }
    }
    count -= 1
    if isMostlyEmpty { resize(to: slotCount / 2) }
    return element
  }

  /// The slot of the element at `offset`, or the free one behind the elements.
  @inline(__always)
  private func pointer(_ offset: Int) -> UnsafeMutablePointer<Element> {
    slots.unsafelyUnwrapped + ((head + offset) & (slotCount - 1))
  }

  /// A buffer with at most 64 slots does not shrink.
  @inline(__always)
  private var isMostlyEmpty: Bool { slotCount > 64 && count < slotCount / 8 }

  /// Moves the elements to `newCount` slots, a power of two that is at least `count`.
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

extension RingBuffer: @unchecked Sendable where Element: Sendable {
  // Sendable: a value, which owns its memory.
}
