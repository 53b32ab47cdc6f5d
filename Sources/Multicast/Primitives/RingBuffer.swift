/// A queue: elements are appended at the end and taken from the front, both in amortised constant
/// time.
///
/// `Array.removeFirst()` moves every element; this moves none. A buffer that has grown large gives
/// memory back as it empties.
struct RingBuffer<Element> {
  /// Power of two many places, or none.
  private var places: ContiguousArray<Element?> = []
  /// The place of the first element.
  private var head = 0
  /// How many elements there are.
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  /// - Complexity: amortised O(1).
  mutating func append(_ element: Element) {
    if count == places.count { resize(to: max(1, places.count * 2)) }
    places[(head + count) & (places.count - 1)] = element
    count += 1
  }

  /// - Complexity: O(1).
  mutating func popFirst() -> Element? {
    guard count > 0 else { return nil }
    let element = places[head].take()
    head = (head + 1) & (places.count - 1)
    count -= 1
    if count < places.count / 8 && places.count > Self.keptCapacity { resize(to: places.count / 2) }
    return element
  }

  /// The element at `offset` from the front.
  subscript(offset: Int) -> Element {
    get { places[place(offset)]! }
    set { places[place(offset)] = newValue }
  }

  private func place(_ offset: Int) -> Int {
    precondition(offset >= 0 && offset < count, "offset \(offset) of \(count) elements")
    return (head + offset) & (places.count - 1)
  }

  /// How much a buffer keeps at least once it has grown.
  private static var keptCapacity: Int { 64 }

  /// Moves the elements to `capacity` places, a power of two that is at least `count`.
  private mutating func resize(to capacity: Int) {
    var resized: ContiguousArray<Element?> = []
    resized.reserveCapacity(capacity)
    for offset in 0..<count { resized.append(places[(head + offset) & (places.count - 1)].take()) }
    while resized.count < capacity { resized.append(nil) }
    places = resized
    head = 0
  }
}
