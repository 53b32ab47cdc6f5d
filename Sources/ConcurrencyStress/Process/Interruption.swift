internal import Foundation
internal import Synchronization

/// The request of a signal to end the program with its report.
enum Interruption {
  // Relaxed: it carries no data, and the threads that poll it see it soon.
  private static let requested = Atomic(false)

  /// Whether a signal has asked the program to end.
  static var isRequested: Bool { requested.load(ordering: .relaxed) }

  /// Asks the program to end, as a signal does.
  static func request() { requested.store(true, ordering: .relaxed) }

  /// From now on, an interrupt or a termination signal is such a request. A second one has its
  /// usual effect.
  static func install() {
    _ = requested.load(ordering: .relaxed)  // Initialised before a handler reads it.
    for number in [SIGINT, SIGTERM] {
      signal(number) { number in
        Interruption.request()
        signal(number, SIG_DFL)
      }
    }
  }
}
