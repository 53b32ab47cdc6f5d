/// A first-in, first-out queue in a circular array.
///
/// `Array.removeFirst()` moves every element; `popFirst()` moves none, except when a large buffer
/// that has become mostly empty shrinks.
struct RingBuffer<Element> {
  /// The number of slots is a power of two, or zero.
  private var slots: ContiguousArray<Element?> = []
  /// The slot of the first element.
  private var head = 0
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  /// - Complexity: amortised O(1).
  mutating func append(_ element: Element) {
    if count == slots.count { resize(to: max(1, slots.count * 2)) }
    slots[(head + count) & (slots.count - 1)] = element
    count += 1
  }

  /// - Complexity: amortised O(1).
  mutating func popFirst() -> Element? {
    guard count > 0 else { return nil }
    let element = slots[head].take()
    head = (head + 1) & (slots.count - 1)
    count -= 1
    if count < slots.count / 8 && slots.count > Self.keptCapacity { resize(to: slots.count / 2) }
    return element
  }

  /// The element at `offset` from the front.
  subscript(offset: Int) -> Element {
    get { slots[slot(offset)]! }
    set { slots[slot(offset)] = newValue }
  }

  private func slot(_ offset: Int) -> Int {
    precondition(offset >= 0 && offset < count, "offset \(offset) of \(count) elements")
    return (head + offset) & (slots.count - 1)
  }

  /// A buffer with at most this many slots does not shrink.
  private static var keptCapacity: Int { 64 }

  /// Moves the elements to `capacity` slots, a power of two that is at least `count`.
  private mutating func resize(to capacity: Int) {
    var resized = ContiguousArray<Element?>(repeating: nil, count: capacity)
    for offset in 0..<count { resized[offset] = slots[slot(offset)].take() }
    slots = resized
    head = 0
  }
}
