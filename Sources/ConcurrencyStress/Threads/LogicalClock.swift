internal import Synchronization

/// A logical clock: all threads agree on the order of its ticks.
///
/// ## Thread safety
/// Every operation may be called from any thread.
public final class LogicalClock: Sendable {
  private let time = Atomic<Int>(0)

  /// A clock that has not ticked.
  public init() {}

  /// The next number, from 1.
  ///
  /// - Returns: the number, which no other call returns.
  public func tick() -> Int {
    // Sequentially consistent: what a thread did before its tick happened before what another one
    // does after a later tick.
    time.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue
  }
}
