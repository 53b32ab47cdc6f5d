internal import Synchronization

/// Counts objects that come and go, and calls that come too late.
public final class LifetimeTracker: Sendable {
  private let creations = Atomic<Int>(0)
  private let destructions = Atomic<Int>(0)
  private let late = Atomic<Int>(0)

  public init() {}

  public var created: Int { creations.load(ordering: .sequentiallyConsistent) }
  public var destroyed: Int { destructions.load(ordering: .sequentiallyConsistent) }

  /// How many objects exist now.
  public var live: Int {
    let destroyed = destroyed  // First: what is created meanwhile does not make this negative.
    return created - destroyed
  }

  /// How many calls reached an object that must not be called any more.
  public var lateCalls: Int { late.load(ordering: .sequentiallyConsistent) }

  public func noteCreation() { creations.add(1, ordering: .sequentiallyConsistent) }
  public func noteDestruction() { destructions.add(1, ordering: .sequentiallyConsistent) }
  public func noteLateCall() { late.add(1, ordering: .sequentiallyConsistent) }
}
