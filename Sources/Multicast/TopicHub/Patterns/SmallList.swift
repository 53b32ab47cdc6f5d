/// A list in memory that its creator provides; what exceeds that is in an array.
struct SmallList<Element: BitwiseCopyable> {
  private let memory: UnsafeMutableBufferPointer<Element>
  private var rest: [Element] = []
  private(set) var count = 0
  /// For the user of the list.
  var flag = false

  /// - Parameter memory: valid as long as the list.
  init(_ memory: UnsafeMutableBufferPointer<Element>) {
    self.memory = memory
  }

  mutating func append(_ element: Element) {
    if count < memory.count {
      memory.initializeElement(at: count, to: element)
    } else {
      rest.append(element)
    }
    count += 1
  }

  mutating func removeAll() {
    rest.removeAll()
    count = 0
  }

  subscript(index: Int) -> Element {
    get { index < memory.count ? memory[index] : rest[index - memory.count] }
    set {
      if index < memory.count {
        memory[index] = newValue
      } else {
        rest[index - memory.count] = newValue
      }
    }
  }

  /// Removes the elements from `count` on.
  mutating func truncate(to count: Int) {
    rest.removeLast(max(0, self.count - max(count, memory.count)))
    self.count = count
  }
}
