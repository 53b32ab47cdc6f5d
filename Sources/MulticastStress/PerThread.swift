/// An element for each thread of a round.
final class PerThread<Element>: @unchecked Sendable {
  // Sendable: each element is accessed by its thread alone, and by others when all threads are done.
  // An array would make every access an access to the whole, which the thread sanitizer reports.
  private let elements: UnsafeMutableBufferPointer<Element>

  init(repeating element: Element, threads: Int) {
    elements = .allocate(capacity: threads)
    elements.initialize(repeating: element)
  }

  deinit {
    elements.deinitialize()
    elements.deallocate()
  }

  subscript(thread: Int) -> Element {
    get { elements[thread] }
    _modify { yield &elements[thread] }
  }

  /// The elements of all threads. To be read when the threads are done.
  var all: [Element] { Array(elements) }
}
