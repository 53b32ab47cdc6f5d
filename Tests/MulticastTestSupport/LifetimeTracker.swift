internal import Synchronization

/// Counts objects that are created and destroyed, and calls that come too late.
public final class LifetimeTracker: Sendable {
  private let creations = Atomic<Int>(0)
  private let destructions = Atomic<Int>(0)
  private let late = Atomic<Int>(0)

  public init() {}

  public var created: Int { creations.load(ordering: .sequentiallyConsistent) }
  public var destroyed: Int { destructions.load(ordering: .sequentiallyConsistent) }

  /// The number of objects that exist.
  public var live: Int {
    let destroyed = destroyed  // First, so that this is never negative.
    return created - destroyed
  }

  /// The number of calls to objects that must not be called any more.
  public var lateCalls: Int { late.load(ordering: .sequentiallyConsistent) }

  public func noteCreation() { creations.add(1, ordering: .sequentiallyConsistent) }
  public func noteDestruction() { destructions.add(1, ordering: .sequentiallyConsistent) }
  public func noteLateCall() { late.add(1, ordering: .sequentiallyConsistent) }
}
