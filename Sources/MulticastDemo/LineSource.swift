/// The lines of a file, read as they are needed.
///
/// Only the lines that are being delivered are in memory.
final class LineSource: EventSource {
  private let state: Locked<State>
  let name: String
  /// Which file it is, if it is one.
  let identity: FileIdentity?

  /// The longest line that is taken. Without a limit, a file without newlines would fill the
  /// memory.
  static let longestLine = 1 << 20

  fileprivate struct State: ~Copyable {
    let file: InputFile
    /// The beginning of a line whose end has not been read yet.
    var partial: [UInt8] = []
    var eventsRead = 0
    var ended = false
  }

  init(_ file: consuming InputFile) {
    name = file.name
    identity = file.identity
    state = Locked(State(file: file))
  }

  var eventsRead: Int {
    state.withLock { $0.eventsRead }
  }

  func next() throws -> [Event]? {
    // The lock is held while waiting for the input, which is all that the other threads wait for.
    // No delegate is called under it.
    try state.withLock { state in
      while !state.ended {
        guard let events = try state.read() else { continue }
        state.eventsRead += events.count
        return events
      }
      return nil
    }
  }
}

extension LineSource.State {
  private static var newline: UInt8 { UInt8(ascii: "\n") }

  /// Reads once.
  ///
  /// - Returns: the lines that are complete now, or `nil` if none is.
  mutating func read() throws -> [Event]? {
    let old = partial.count
    guard try file.read(appendingTo: &partial) else {
      ended = true
      return partial.isEmpty ? nil : [Event(partial[...])]
    }
    // Only the first line can be too long: the others were read at once.
    guard (partial[old...].firstIndex(of: Self.newline) ?? partial.count) <= LineSource.longestLine
    else {
      ended = true
      throw DemoError.failure(
        "cannot read \(file.name): "
          + "line \(eventsRead + 1) is longer than \(LineSource.longestLine) bytes")
    }
    guard let end = partial[old...].lastIndex(of: Self.newline) else { return nil }
    let lines = partial
    partial = Array(lines[(end + 1)...])
    return lines[..<end].split(separator: Self.newline, omittingEmptySubsequences: false)
      .map(Event.init)
  }
}
