internal import Foundation

/// A door that is closed until somebody opens it, for good.
public final class Gate: @unchecked Sendable {
  // Sendable: `opened` is touched inside `condition` alone.
  private let condition = NSCondition()
  private var opened = false
  private let name: String

  public init(_ name: String = "gate") {
    self.name = name
  }

  public func open() {
    condition.withLock {
      opened = true
      condition.broadcast()
    }
  }

  public var isOpen: Bool {
    condition.withLock { opened }
  }

  /// Returns when the gate is open. Traps if that takes longer than `seconds`.
  public func wait(seconds: Double = timeLimit) {
    guard !waitReturnsOpen(seconds: seconds) else { return }
    fatalError("\(name) was not opened within \(seconds) s")
  }

  /// Waits until the gate is open or `seconds` have passed.
  ///
  /// - Returns: whether it is open.
  public func waitReturnsOpen(seconds: Double) -> Bool {
    let deadline = Date(timeIntervalSinceNow: seconds)
    return condition.withLock {
      while !opened {
        guard condition.wait(until: deadline) else { return opened }
      }
      return true
    }
  }
}

/// After so many seconds a test that waits is taken to be stuck.
public let timeLimit: Double = 300
