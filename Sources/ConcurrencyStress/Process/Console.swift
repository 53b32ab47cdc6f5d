internal import Foundation
internal import Synchronization

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

  /// Opens those of the standard files that are closed. Otherwise another file could get the number
  /// of one, and then what is printed.
  static func reserve() {
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO]
    where fcntl(descriptor, F_GETFD) < 0 {
      _ = open("/dev/null", O_RDWR)  // Gets the lowest free number.
    }
  }

  /// Whether standard output or standard error goes to the regular file at this path.
  static func prints(to path: String) -> Bool {
    guard let file = FileIdentity(path: path) else { return false }
    return [STDOUT_FILENO, STDERR_FILENO].contains { FileIdentity($0) == file }
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
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if errno != EINTR {
        if descriptor == STDOUT_FILENO { Self.failure.store(errno, ordering: .relaxed) }
        return
      }
    }
  }

  /// The last error of standard output; 0: none.
  // Relaxed: nothing else is read because of it.
  private static let failure = Atomic<Int32>(0)

  /// Why something that was printed on standard output is lost. `nil` if nothing is, or if the
  /// reader of a pipe had seen enough.
  static var outputError: String? {
    let error = failure.load(ordering: .relaxed)
    guard error != 0 && error != EPIPE else { return nil }
    return "cannot write standard output: \(String(cString: strerror(error)))"
  }
}
