/// How far the handler of a mailbox has read, if elements only tell it to read elsewhere.
///
/// ## Thread safety
/// The thread that drains the mailbox.
final class ReadingProgress: @unchecked Sendable {
  // Sendable: see "Thread safety".

  /// Whether events are left to read that came before the element was taken.
  var isIncomplete = false

  func takeIsIncomplete() -> Bool {
    defer { isIncomplete = false }
    return isIncomplete
  }
}
