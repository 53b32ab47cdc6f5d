internal import CMulticast

/// Writes `message` as a line on standard error. For mistakes that do not justify ending the
/// process.
///
/// Call it outside of any lock: a test may have replaced the output.
func warn(_ message: String) {
  WarningOutput.shared.write("\(message)\n")
}

/// Where warnings go: standard error, up to a number of lines, so that a program that repeats a
/// mistake can still be read.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class WarningOutput: @unchecked Sendable {
  // Sendable: everything that changes is accessed inside `lock` alone.

  static let shared = WarningOutput()

  /// The largest number of lines in a process.
  static var limit: Int { 16 }

  /// Guards the number of lines and the replacement, which is called outside.
  private let lock = Lock()
  private var lineCount = 0
  private var replacement: (@Sendable (String) -> Void)?

  init() {}

  /// Passes further warnings to `output` instead; for tests.
  func replace(with output: (@Sendable (String) -> Void)?) {
    let old = lock.withLock {
      defer { replacement = output }
      return replacement
    }
    withExtendedLifetime(old) {}  // Destroyed here, outside the lock.
  }

  func write(_ line: String) {
    let (replacement, count) = lock.withLock { () -> ((@Sendable (String) -> Void)?, Int) in
      if self.replacement == nil { lineCount += 1 }
      return (self.replacement, lineCount)
    }
    if let replacement { return replacement(line) }
    guard count <= Self.limit else { return }
    var text = line
    if count == Self.limit { text += "Multicast: further warnings are not written.\n" }
    // One call, so that lines of several threads do not mix. What cannot be written is lost.
    text.withUTF8 { bytes in _ = CMulticast.write(2, bytes.baseAddress, bytes.count) }
  }
}
