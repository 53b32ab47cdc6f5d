internal import Synchronization

/// A sum to which threads or tasks add, each of them once, at its end.
public final class Tally: Sendable {
  private let sum = Atomic(0)

  public init() {}

  // Relaxed: the reader has waited for every thread and task that adds.
  public func add(_ value: Int) { sum.wrappingAdd(value, ordering: .relaxed) }

  public var value: Int { sum.load(ordering: .relaxed) }
}
