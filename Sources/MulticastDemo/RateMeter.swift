import Synchronization

/// A delegate that prints the number of events, and their rate.
final class RateMeter: EventDelegate {
  private let interval: Duration
  private let now: @Sendable () -> ContinuousClock.Instant
  private let print: @Sendable (String) -> Void
  private let start: ContinuousClock.Instant
  private let received = Atomic(0)
  /// The number of intervals for which progress was printed.
  private let reported = Atomic(0)

  /// - Parameters:
  ///   - interval: how often to print, at the most.
  ///   - now: the clock.
  ///   - print: where to print a line.
  init(
    every interval: Duration = .seconds(1),
    now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
    print: @escaping @Sendable (String) -> Void
  ) {
    self.interval = interval
    self.now = now
    self.print = print
    start = now()
  }

  func didReceive(_ event: Event) {
    // Relaxed: a count on its own, as the one below.
    let count = received.wrappingAdd(1, ordering: .relaxed).newValue
    let elapsed = now() - start
    let due = Int(elapsed / interval)
    let last = reported.load(ordering: .relaxed)
    guard due > last else { return }
    // Several threads may get here. The one that changes the word prints.
    let exchange = reported.compareExchange(expected: last, desired: due, ordering: .relaxed)
    if exchange.exchanged { printProgress(count, after: elapsed) }
  }

  func didFinish() -> Summary {
    Summary(title: "rate", received: received.load(ordering: .relaxed))
  }

  /// Prints the number of events so far.
  func printProgress() {
    printProgress(received.load(ordering: .relaxed), after: now() - start)
  }

  private func printProgress(_ count: Int, after elapsed: Duration) {
    let seconds = elapsed / .seconds(1)
    let rate = seconds > 0 ? Int(Double(count) / seconds) : 0
    print("\(count.counted("line")), \(rate) per second")
  }
}
