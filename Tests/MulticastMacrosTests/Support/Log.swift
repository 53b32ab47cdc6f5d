import Foundation

/// A record of calls, as text, in order.
final class Log: @unchecked Sendable {
  // Sendable: `lines` is accessed under `lock` only.
  private let lock = NSLock()
  private var lines: [String] = []

  func note(_ line: String) {
    lock.withLock { lines.append(line) }
  }

  /// What was noted so far; the log is empty afterwards.
  func take() -> [String] {
    lock.withLock {
      defer { lines = [] }
      return lines
    }
  }
}
