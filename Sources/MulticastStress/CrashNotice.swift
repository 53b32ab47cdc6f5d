import Foundation

/// Prints which trial was running if the process crashes. The crash then proceeds as without this.
enum CrashNotice {
  // SAFETY: the thread that runs the trials writes `message` between two of them. The handler of a
  // signal that a trial raises reads it; it may still read the message before, which is never freed.
  private nonisolated(unsafe) static var message: UnsafeMutablePointer<CChar>?
  /// All messages so far. None is freed.
  private nonisolated(unsafe) static var messages: [UnsafeMutablePointer<CChar>?] = []
  private nonisolated(unsafe) static var handlers: [sigaction] = signals.map { _ in .init() }
  private static let signals = [SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT]
  private static let install: Void = {
    for (index, signal) in signals.enumerated() {
      var action = sigaction()
      #if canImport(Darwin)
        action.__sigaction_u.__sa_handler = notice
      #else
        action.__sigaction_handler.sa_handler = notice
      #endif
      action.sa_flags = Int32(SA_ONSTACK) | Int32(SA_NODEFER)
      sigaction(signal, &action, &handlers[index])
    }
  }()

  /// Makes a crash print this from now on.
  static func prepare(_ happened: String, _ command: String) {
    message = strdup("BROKEN  \(happened)\nrepeat with: \(command)\n")
    messages.append(message)
    install
  }

  /// Calls async-signal-safe functions only.
  private static let notice: @convention(c) (Int32) -> Void = { number in
    if let message { _ = write(STDERR_FILENO, message, strlen(message)) }
    message = nil
    // With the handler that was there before, the instruction crashes again.
    for index in 0..<signals.count where signals[index] == number {
      sigaction(number, &handlers[index], nil)
    }
    if number == SIGABRT { raise(number) }
  }
}
