import Foundation
import Multicast

/// Delivery: several threads take events from a source and pass each to all delegates.
struct FanOut: Sendable {
  let source: any EventSource
  let delegates: MulticastDelegate<any EventDelegate>
}

extension FanOut {
  /// Delivers all events, and returns when each delegate has received each of them.
  ///
  /// - Throws: the first error of the source or of a delegate. Other threads may still be working
  ///   or waiting for input, so the program must end.
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
        // The multicast: calls each delegate on this thread, in registration order. A `for` loop
        // over the hub works too, but copies the list each time.
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
