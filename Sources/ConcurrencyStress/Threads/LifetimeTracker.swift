internal import Synchronization

/// Counts objects that are created and destroyed, and calls that come too late.
///
/// ```swift
/// let lifetimes = LifetimeTracker()
/// …  // objects call noteCreation() in `init` and noteDestruction() in `deinit`
/// precondition(lifetimes.live == 0)
/// ```
///
/// ## Thread safety
/// Every operation may be called from any thread.
public final class LifetimeTracker: Sendable {
  // Sequentially consistent: a thread that sees a destruction sees the creation before it.
  private let creations = Atomic<Int>(0)
  private let destructions = Atomic<Int>(0)
  private let late = Atomic<Int>(0)

  /// A tracker that has counted nothing.
  public init() {}

  /// The number of objects that were created.
  public var created: Int { creations.load(ordering: .sequentiallyConsistent) }
  /// The number of objects that were destroyed.
  public var destroyed: Int { destructions.load(ordering: .sequentiallyConsistent) }

  /// The number of objects that exist.
  public var live: Int {
    let destroyed = destroyed  // First, so that this is never negative.
    return created - destroyed
  }

  /// The number of calls to objects that must not be called any more.
  public var lateCalls: Int { late.load(ordering: .sequentiallyConsistent) }

  /// Counts an object that is created.
  public func noteCreation() { creations.add(1, ordering: .sequentiallyConsistent) }
  /// Counts an object that is destroyed.
  public func noteDestruction() { destructions.add(1, ordering: .sequentiallyConsistent) }
  /// Counts a call to an object that must not be called any more.
  public func noteLateCall() { late.add(1, ordering: .sequentiallyConsistent) }
}
