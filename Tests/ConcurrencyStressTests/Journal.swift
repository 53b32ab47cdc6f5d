import Foundation

/// A record of numbers, in order.
final class Journal: @unchecked Sendable {
  // Sendable: `recorded` is accessed under `lock` only.
  private let lock = NSLock()
  private var recorded: [Int] = []

  func record(_ entry: Int) { lock.withLock { recorded.append(entry) } }

  var entries: [Int] { lock.withLock { recorded } }
}
