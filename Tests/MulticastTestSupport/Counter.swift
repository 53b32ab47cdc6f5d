internal import Synchronization

/// A number that many threads add to.
public final class Counter: Sendable {
  private let number = Atomic<Int>(0)

  public init() {}

  public var value: Int { number.load(ordering: .sequentiallyConsistent) }

  public func add(_ difference: Int = 1) {
    number.add(difference, ordering: .sequentiallyConsistent)
  }
}
