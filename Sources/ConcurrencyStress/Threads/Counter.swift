internal import Synchronization

/// A number that many threads add to.
///
/// ## Thread safety
/// Every operation may be called from any thread.
public final class Counter: Sendable {
  // Sequentially consistent: a thread that sees a number sees what was done before it was reached.
  private let number = Atomic<Int>(0)

  /// A counter at 0.
  public init() {}

  /// The number now.
  public var value: Int { number.load(ordering: .sequentiallyConsistent) }

  /// Adds to the number.
  ///
  /// - Parameter difference: may be negative.
  public func add(_ difference: Int = 1) {
    number.add(difference, ordering: .sequentiallyConsistent)
  }
}
