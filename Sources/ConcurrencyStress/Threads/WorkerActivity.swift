internal import Foundation
internal import Synchronization

/// What the watchdog reads of one worker: how much it has done, and what it is doing.
///
/// ## Thread safety
/// Every operation may be called from any thread.
public final class WorkerActivity: @unchecked Sendable {
  // Sendable: what changes is atomic, and `latest` points to a string that never changes. Relaxed
  // everywhere: the values are only displayed.
  private let count = Atomic<Int>(0)
  private let latest: Atomic<UnsafePointer<UInt8>>
  /// Keeps the counters of the next object off the cache lines of this one.
  private let padding: (Int, Int, Int, Int, Int, Int, Int, Int) = (0, 0, 0, 0, 0, 0, 0, 0)

  /// An activity of a worker that has done nothing.
  public init() {
    let step: StaticString = "begins"
    latest = Atomic(step.utf8Start)
  }

  /// Records that the worker begins a step, and counts it as one operation.
  ///
  /// - Parameter step: what the watchdog prints if it is the last one.
  public func begin(_ step: StaticString) {
    latest.store(step.utf8Start, ordering: .relaxed)
    count.wrappingAdd(1, ordering: .relaxed)
  }

  /// Records that the worker begins a step, and counts it as one operation.
  func begin(_ step: StepName) {
    latest.store(step.bytes, ordering: .relaxed)
    count.wrappingAdd(1, ordering: .relaxed)
  }

  /// Adds to the number of operations.
  ///
  /// - Parameter operations: how many more.
  public func add(_ operations: Int) {
    count.wrappingAdd(operations, ordering: .relaxed)
  }

  /// How many operations the worker has done.
  public var operations: Int { count.load(ordering: .relaxed) }

  /// What the worker did last.
  // SAFETY: `latest` points to a literal or a `StepName`: neither is freed, both end with a zero.
  public var step: String { String(cString: latest.load(ordering: .relaxed)) }
}

extension WorkerActivity: CustomStringConvertible {
  /// The last step, with the number of operations.
  public var description: String { "\(step), after \(operations.grouped) operations" }
}

/// A step whose name is no literal. Each name is kept for good, once.
struct StepName: @unchecked Sendable {
  // Sendable: points to a string that never changes and is never freed.
  fileprivate let bytes: UnsafePointer<UInt8>

  init(_ name: String) {
    bytes = Self.names.pointer(to: name)
  }

  private static let names = StepNames()
}

private final class StepNames: @unchecked Sendable {
  // Sendable: `pointers` is accessed under `lock` only.
  private let lock = NSLock()
  private var pointers: [String: UnsafePointer<UInt8>] = [:]

  func pointer(to name: String) -> UnsafePointer<UInt8> {
    lock.withLock {
      if let known = pointers[name] { return known }
      // SAFETY: never freed; ends with a zero.
      let bytes = Array(name.utf8) + [0]
      let copy = UnsafeMutablePointer<UInt8>.allocate(capacity: bytes.count)
      copy.initialize(from: bytes, count: bytes.count)
      pointers[name] = UnsafePointer(copy)
      return UnsafePointer(copy)
    }
  }
}
