internal import Foundation

/// A record of calls, in order. Several delegates may share one.
public final class Journal: @unchecked Sendable {
  // Sendable: `recorded` is accessed under `lock` only.
  private let lock = NSLock()
  private var recorded: [Int] = []

  public init() {}

  public func record(_ entry: Int) {
    lock.withLock { recorded.append(entry) }
  }

  /// What was recorded so far.
  public var entries: [Int] {
    lock.withLock { recorded }
  }

  /// How much was recorded so far.
  public var count: Int {
    lock.withLock { recorded.count }
  }

  /// What was recorded so far; the journal is empty afterwards.
  public func take() -> [Int] {
    lock.withLock {
      defer { recorded = [] }
      return recorded
    }
  }
}
