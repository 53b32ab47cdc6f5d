import Synchronization

/// A delegate that counts the events that contain a text, and writes them to a file if it is given
/// one.
final class MatchFilter: EventDelegate {
  private let text: String
  private let pattern: [UInt8]
  private let received = Atomic(0)
  private let matches: Locked<Matches>

  private struct Matches: ~Copyable {
    var count = 0
    var file: OutputFile?
  }

  /// - Parameters:
  ///   - text: the text to match.
  ///   - file: where to write the lines that contain it.
  init(_ text: String, writingTo file: consuming OutputFile? = nil) {
    self.text = text
    pattern = Array(text.utf8)
    matches = Locked(Matches(file: file))
  }

  func didReceive(_ event: Event) throws {
    // Relaxed: a count on its own. The reader has waited for the threads that delivered.
    received.wrappingAdd(1, ordering: .relaxed)
    guard event.contains(pattern) else { return }
    try matches.withLock { matches in
      matches.count += 1
      try matches.file?.write(line: event.bytes)
    }
  }

  func didFinish() throws -> Summary {
    let count = try matches.withLock { matches in
      try matches.file?.flush()
      return matches.count
    }
    return Summary(
      title: "lines with '\(text.printable)'",
      received: received.load(ordering: .relaxed),
      details: ["\(count) matched"])
  }
}
