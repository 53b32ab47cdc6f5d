internal import Foundation
internal import Synchronization

/// Standard output or standard error, without a buffer.
struct Console {
  static let output = Console(descriptor: STDOUT_FILENO)
  /// For progress and errors.
  static let error = Console(descriptor: STDERR_FILENO)

  private let descriptor: Int32

  /// Opens those of the standard files that are closed. Otherwise a report could get the number of
  /// one, and then what is printed.
  static func reserve() {
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO]
    where fcntl(descriptor, F_GETFD) < 0 {
      _ = open("/dev/null", O_RDWR)  // Gets the lowest free number.
    }
  }

  func print(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
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
