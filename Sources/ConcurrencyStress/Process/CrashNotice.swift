internal import Foundation

/// Prints which trial was running if the process crashes. The crash then proceeds as without this.
enum CrashNotice {
  // SAFETY: the thread that runs the trials writes `message` between two of them, under `lock`:
  // tests run several programs at once. The handler of a signal that a trial raises reads it
  // without the lock; it may still read the message before, which is freed after another trial
  // only.
  private nonisolated(unsafe) static var message: UnsafeMutablePointer<CChar>?
  /// Guards what `prepare` changes.
  private static let lock = NSLock()
  /// The message before.
  // SAFETY: accessed under `lock` only.
  private nonisolated(unsafe) static var previous: UnsafeMutablePointer<CChar>?
  /// A file to which the message goes too, or -1.
  // SAFETY: as `message`.
  private nonisolated(unsafe) static var log: Int32 = -1
  /// The message of this thread, which goes before that of the process.
  private static let threadMessage: pthread_key_t = {
    var key = pthread_key_t()
    let error = pthread_key_create(&key) { free($0) }
    require(error == 0, "pthread_key_create failed with error \(error)")
    return key
  }()
  // SAFETY: `install` writes each, once, before the handler of that signal, which reads it, may run
  // in a trial.
  private nonisolated(unsafe) static var handlers: [sigaction] = signals.map { _ in .init() }
  private static let signals = [SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT]
  private static let install: Void = {
    // Made here, so that the handler only reads it.
    _ = threadMessage
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
  ///
  /// - Parameter log: a file to which it is written too, or -1.
  static func prepare(_ happened: String, _ command: String, log: Int32 = -1) {
    let old = lock.withLock {
      let old = previous
      previous = message
      message = strdup("BROKEN  \(happened)\nrepeat with: \(command)\n")
      Self.log = log
      return old
    }
    free(old)
    SignalStack.install()
    install
  }

  /// Makes a crash on this thread print this from now on; nothing if `nil`.
  static func prepareThread(_ text: String?) {
    free(pthread_getspecific(threadMessage))
    pthread_setspecific(threadMessage, text.map { strdup("BROKEN  \($0)\n") })
    guard text != nil else { return }
    SignalStack.install()
    install
  }

  /// Calls async-signal-safe functions only, beside `pthread_getspecific`, which reads a field.
  private static let notice: @convention(c) (Int32) -> Void = { number in
    if let own = pthread_getspecific(threadMessage) {
      let text = own.assumingMemoryBound(to: CChar.self)
      _ = write(STDERR_FILENO, text, strlen(text))
      if log >= 0 { _ = write(log, text, strlen(text)) }
    }
    if let message {
      _ = write(STDERR_FILENO, message, strlen(message))
      if log >= 0 { _ = write(log, message, strlen(message)) }
    }
    message = nil
    // With the handler that was there before, the instruction crashes again.
    for index in 0..<signals.count where signals[index] == number {
      sigaction(number, &handlers[index], nil)
    }
    if number == SIGABRT { raise(number) }
  }
}
