/// An element for each thread of a round.
///
/// ## Thread safety
/// Each thread accesses its own element; other threads may do so when it is done.
public final class PerThread<Element: Sendable>: @unchecked Sendable {
  // Sendable: each element is accessed by its thread alone, and by others when all threads are
  // done. An array would make every access an access to the whole, which the thread sanitizer
  // reports.
  private let elements: UnsafeMutableBufferPointer<Element>

  /// Creates an element for each thread.
  ///
  /// - Parameters:
  ///   - element: the first value of each element.
  ///   - threads: the number of elements.
  public init(repeating element: Element, threads: Int) {
    // SAFETY: initialised here, deinitialised and freed in `deinit`.
    elements = .allocate(capacity: threads)
    elements.initialize(repeating: element)
  }

  deinit {
    elements.deinitialize()
    elements.deallocate()
  }

  /// The element of the thread with this number, from 0.
  ///
  /// - Parameter thread: a number below that of the threads.
  /// - Returns: the element.
  /// - Precondition: there is an element with this number.
  public subscript(thread: Int) -> Element {
    get {
      check(thread)
      return elements[thread]
    }
    _modify {
      check(thread)
      yield &elements[thread]
    }
  }

  /// Traps beside the elements: the buffer checks its indices in debug builds only.
  private func check(_ thread: Int) {
    require(
      elements.indices.contains(thread), "thread \(thread): there are \(elements.count) elements")
  }

  /// The elements of all threads. To be read when the threads are done.
  public var all: [Element] { Array(elements) }
}
