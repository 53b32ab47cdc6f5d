internal import Synchronization

/// What the watchdog reads of one worker: how much it has done, and what it is doing.
///
/// ## Thread safety
/// Every operation may be called from any thread.
public final class WorkerActivity: @unchecked Sendable {
  // Sendable: what changes is atomic, and `latest` points to a string of the program, which never
  // changes. Relaxed everywhere: the values are only displayed.
  private let count = Atomic<Int>(0)
  private let latest: Atomic<UnsafePointer<UInt8>>
  /// Keeps the counters of the next object off the cache lines of this one.
  private let padding: (Int, Int, Int, Int, Int, Int, Int, Int) = (0, 0, 0, 0, 0, 0, 0, 0)

  /// An activity of a worker that has done nothing.
  public init() {
    let step: StaticString = "begins"
    latest = Atomic(step.utf8Start)
  }

  /// The worker is about to do this, which counts as one operation.
  public func does(_ step: StaticString) {
    latest.store(step.utf8Start, ordering: .relaxed)
    count.wrappingAdd(1, ordering: .relaxed)
  }

  /// Adds to the number of operations.
  public func add(_ operations: Int) {
    count.wrappingAdd(operations, ordering: .relaxed)
  }

  /// How many operations the worker has done.
  public var operations: Int { count.load(ordering: .relaxed) }

  /// What the worker did last.
  // SAFETY: `latest` points to a static string of the program, which ends with a zero.
  public var step: String { String(cString: latest.load(ordering: .relaxed)) }
}
