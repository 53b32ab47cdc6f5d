import Foundation

/// What ends the program early: one line for standard error, and an exit status.
struct DemoError: Error, Equatable {
  let message: String
  let status: Int32

  /// The command line makes no sense.
  static func usage(_ message: String) -> DemoError {
    DemoError(message: "\(message) (try --help)", status: 2)
  }

  /// Something went wrong.
  static func failure(_ message: String) -> DemoError {
    DemoError(message: message, status: 1)
  }

  /// A call of the operating system went wrong.
  static func system(_ message: String, _ code: Int32) -> DemoError {
    // SAFETY: `strerror` returns a string of C, to be copied at once.
    failure("\(message): \(String(cString: strerror(code)))")
  }
}
