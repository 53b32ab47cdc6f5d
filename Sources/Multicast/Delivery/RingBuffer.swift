/// A queue: elements are appended at the end and taken from the front, both in amortised constant time.
///
/// `Array.removeFirst()` moves every element; this moves none. Once it is empty, a buffer that has grown large
/// gives its memory back.
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
    if count == places.count { grow() }
    places[(head + count) & (places.count - 1)] = element
    count += 1
  }

  /// - Complexity: O(1).
  mutating func popFirst() -> Element? {
    guard count > 0 else { return nil }
    let element = places[head].take()
    head = (head + 1) & (places.count - 1)
    count -= 1
    if count == 0 && places.count > Self.keptCapacity {
      places = []
      head = 0
    }
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

  /// How much an empty buffer keeps.
  private static var keptCapacity: Int { 256 }

  private mutating func grow() {
    var larger: ContiguousArray<Element?> = []
    larger.reserveCapacity(max(4, places.count * 2))
    for offset in 0..<count { larger.append(places[(head + offset) & (places.count - 1)].take()) }
    while larger.count < max(4, places.count * 2) { larger.append(nil) }
    places = larger
    head = 0
  }
}
