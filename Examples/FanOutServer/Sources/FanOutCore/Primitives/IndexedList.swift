/// An unordered list of objects, each of which stores its index.
///
/// - Complexity: O(1) for adding and removing.
struct IndexedList<Element: AnyObject> {
  /// Where an element stores its index: `nil` outside of the list. Only the list changes it.
  private let index: ReferenceWritableKeyPath<Element, Int?>
  private var elements: [Element] = []

  init(_ index: ReferenceWritableKeyPath<Element, Int?>) {
    self.index = index
  }
}

extension IndexedList {
  mutating func add(_ element: Element) {
    element[keyPath: index] = elements.count
    elements.append(element)
  }

  /// Moves the last element to the index of `element`.
  ///
  /// - Returns: whether the list contained `element`.
  @discardableResult
  mutating func remove(_ element: Element) -> Bool {
    guard let place = element[keyPath: index] else { return false }
    element[keyPath: index] = nil
    let last = elements.removeLast()
    if last !== element {
      elements[place] = last
      last[keyPath: index] = place
    }
    return true
  }

  var count: Int { elements.count }

  subscript(index: Int) -> Element { elements[index] }
}

extension IndexedList: Sequence {
  func makeIterator() -> IndexingIterator<[Element]> { elements.makeIterator() }
}
