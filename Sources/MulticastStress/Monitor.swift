import Foundation

/// Watches the trial that is running: shows how it goes, and ends the process if no round comes
/// to its end.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class Monitor: @unchecked Sendable {
  // Sendable: everything that changes is touched inside `lock` alone.
  private let lock = NSLock()
  private let stall: Double
  private let onStall: @Sendable (String) -> Void
  private var watched: Watched?

  private struct Watched {
    let trial: Trial
    let done: Double
    let share: Double
    let command: String
    let began = ContinuousClock.now
    var rounds = 0
    var moved = ContinuousClock.now
    var shown = ContinuousClock.now
  }

  /// - Parameters:
  ///   - stall: after how many seconds without the end of a round the process is ended.
  ///   - interval: how often to look, in seconds.
  ///   - onStall: what to do then with the description of what is stuck.
  init(
    stall: Double, interval: Double = 0.1,
    onStall: @escaping @Sendable (String) -> Void = Monitor.endProcess
  ) {
    self.stall = stall
    self.onStall = onStall
    let thread = Thread { [weak self] in
      while true {
        Thread.sleep(forTimeInterval: interval)
        guard let self else { return }
        self.look()
      }
    }
    thread.start()
  }

  /// Begins to watch `trial`.
  ///
  /// - Parameters:
  ///   - done: how much of its scenario is done, from 0 to 1.
  ///   - share: how much of its scenario it is.
  ///   - command: what repeats it.
  func watch(_ trial: Trial, done: Double, share: Double, command: String) {
    lock.withLock { watched = Watched(trial: trial, done: done, share: share, command: command) }
  }

  /// Watches nothing until the next ``watch(_:done:command:)``.
  func rest() {
    lock.withLock { watched = nil }
  }

  /// Prints a line that stays.
  func print(_ line: String) {
    lock.withLock { Console.output.print(line) }
  }

  private func look() {
    let stuck: String? = lock.withLock {
      guard var current = watched else { return nil }
      let now = ContinuousClock.now
      // Not operations: some threads may go on for ever while others cannot.
      let rounds = current.trial.rounds
      if rounds != current.rounds { (current.rounds, current.moved) = (rounds, now) }
      let pause = Console.output.isTerminal ? 0.2 : 5
      if (now - current.shown).seconds >= pause {
        current.shown = now
        Console.output.show(
          Report.progress(
            current.trial, done: current.done + current.share * current.trial.progress,
            seconds: (now - current.began).seconds))
      }
      watched = current
      guard (now - current.moved).seconds >= stall else { return nil }
      watched = nil
      return Self.describe(current.trial, stall, current.command)
    }
    if let stuck { onStall(stuck) }
  }

  private static func describe(_ trial: Trial, _ stall: Double, _ command: String) -> String {
    var lines = ["STUCK   \(trial.label): no round has ended for \(stall.shortened) s"]
    for (index, seat) in trial.seats.enumerated() {
      let name = index == trial.seats.count - 1 ? "the rest" : "thread \(index)"
      lines.append("  \(name): \(seat.step), after \(seat.operations.grouped) operations")
    }
    return (lines + ["repeat with: \(command)"]).joined(separator: "\n")
  }

  /// Ends the process without looking back: threads are stuck.
  static func endProcess(_ description: String) {
    Console.error.print(description)
    _exit(3)
  }
}
