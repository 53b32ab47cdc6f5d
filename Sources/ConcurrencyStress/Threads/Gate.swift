internal import Foundation

/// A gate that a thread opens once, and on which others wait.
///
/// ## Thread safety
/// Every operation may be called from any thread.
public final class Gate: @unchecked Sendable {
  // Sendable: `opened` is accessed under `condition` only.
  private let condition = NSCondition()
  private var opened = false
  private let name: String

  /// Creates a gate, which is closed.
  ///
  /// - Parameter name: what a message calls it.
  public init(_ name: String = "gate") {
    self.name = name
  }

  /// Opens the gate for all threads, for good.
  public func open() {
    condition.withLock {
      opened = true
      condition.broadcast()
    }
  }

  /// Whether the gate is open.
  public var isOpen: Bool {
    condition.withLock { opened }
  }

  /// Returns when the gate is open. Traps if that takes longer than `seconds`.
  ///
  /// - Parameter seconds: the longest wait.
  public func wait(seconds: Double = timeLimit) {
    guard !opens(within: seconds) else { return }
    fatalError("\(name) was not opened within \(seconds) s")
  }

  /// Waits until the gate is open or `seconds` have passed.
  ///
  /// - Parameter seconds: the longest wait.
  /// - Returns: whether it is open.
  public func opens(within seconds: Double) -> Bool {
    let deadline = Date(timeIntervalSinceNow: seconds.asWait)
    return condition.withLock {
      while !opened {
        guard condition.wait(until: deadline) else { return opened }
      }
      return true
    }
  }
}

extension Double {
  /// This number of seconds, or thirty years if it is more: clocks cannot express every wait.
  package var asWait: Double { self >= 0 ? min(self, 1e9) : 0 }
}

/// The number of seconds after which a thread that waits counts as stuck: 900.
///
/// A test that runs beside hundreds of others on two processors may wait for minutes, and is not
/// stuck.
public let timeLimit: Double = 900
