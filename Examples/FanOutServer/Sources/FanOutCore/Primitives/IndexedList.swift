/// An unordered list of objects, each of which stores its index.
///
/// - Complexity: O(1) for adding and removing.
struct IndexedList<Element: IndexedListElement> {
  private var elements: [Element] = []
}

/// An object that can be in one ``IndexedList``.
protocol IndexedListElement: AnyObject {
  /// The index in the list; `nil` outside of a list. Only the list changes it.
  var listIndex: Int? { get set }
}

extension IndexedList {
  mutating func add(_ element: Element) {
    element.listIndex = elements.count
    elements.append(element)
  }

  /// Moves the last element to the index of `element`.
  ///
  /// - Returns: whether the list contained `element`.
  @discardableResult
  mutating func remove(_ element: Element) -> Bool {
    guard let index = element.listIndex else { return false }
    element.listIndex = nil
    let last = elements.removeLast()
    if last !== element {
      elements[index] = last
      last.listIndex = index
    }
    return true
  }
}

extension IndexedList: Sequence {
  func makeIterator() -> IndexingIterator<[Element]> { elements.makeIterator() }
}
