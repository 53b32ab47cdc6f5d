internal import Foundation

/// Standard output or standard error, without a buffer.
struct Console: Sendable {
  static let output = Console(descriptor: STDOUT_FILENO)
  static let error = Console(descriptor: STDERR_FILENO)

  private let descriptor: Int32
  /// Whether a line can be replaced by the next one.
  let isTerminal: Bool

  private init(descriptor: Int32) {
    self.descriptor = descriptor
    isTerminal = isatty(descriptor) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
  }

  /// Opens those of the standard files that are closed, so that no other file gets their numbers,
  /// and then what is printed.
  static func reserve() {
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO]
    where fcntl(descriptor, F_GETFD) < 0 {
      _ = open("/dev/null", O_RDWR)  // Gets the lowest free number.
    }
  }

  /// Prints a line that stays.
  func print(_ line: String) {
    write((isTerminal ? Self.clear : "") + line + "\n")
  }

  /// Prints a line that the next one replaces, on a terminal.
  func show(_ line: String) {
    write(isTerminal ? Self.clear + line : line + "\n")
  }

  /// Goes to the beginning of the line, and erases it.
  private static let clear = "\r\u{1B}[K"

  private func write(_ text: String) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }
}
