import Foundation
import Multicast

/// The way of the events: several threads take them from a source, and tell all delegates about
/// each.
struct FanOut: Sendable {
  let source: any EventSource
  let delegates: MulticastDelegate<any EventDelegate>
}

extension FanOut {
  /// Delivers all events, and returns when each delegate has been told about each of them.
  ///
  /// - Throws: the first error of the source or of a delegate. Other threads may be at work still,
  ///   or wait for input; then the program has to end.
  func run(threads: Int) throws {
    let outcome = Outcome()
    for _ in 0..<threads {
      Thread.detachNewThread {
        do {
          try deliver()
        } catch {
          outcome.fail(error)
        }
        outcome.ended.signal()
      }
    }
    for _ in 0..<threads {
      outcome.ended.wait()
      if let error = outcome.error { throw error }
    }
  }

  /// What each of the threads does.
  private func deliver() throws {
    while let events = try source.next() {
      for event in events {
        // The multicast: calls each delegate, here and now, in the order in which they were added.
        // A `for` loop over the hub would do too, but it makes a copy of the list each time.
        try delegates.forEach { try $0.didReceive(event) }
      }
    }
  }
}

/// How the threads have ended.
private final class Outcome: Sendable {
  /// Signalled by each thread at its end.
  let ended = DispatchSemaphore(value: 0)
  private let firstError = Locked<(any Error)?>(nil)

  var error: (any Error)? {
    firstError.withLock { $0 }
  }

  func fail(_ error: any Error) {
    firstError.withLock { $0 = $0 ?? error }
  }
}
