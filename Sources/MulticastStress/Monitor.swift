import Foundation

/// A watchdog for the trial that is running: shows its progress, and ends the process if no round
/// ends.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class Monitor: @unchecked Sendable {
  // Sendable: everything that changes is accessed under `lock` only.
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
  ///   - stall: the number of seconds without the end of a round after which the process is ended.
  ///   - interval: the number of seconds between two checks.
  ///   - onStall: what to do then, given a description of what is stuck.
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
        self.check()
      }
    }
    thread.start()
  }

  /// Begins to watch `trial`.
  ///
  /// - Parameters:
  ///   - done: the part of its scenario that is done, from 0 to 1.
  ///   - share: the part of its scenario that the trial is.
  ///   - command: the command that repeats it.
  func watch(_ trial: Trial, done: Double, share: Double, command: String) {
    lock.withLock { watched = Watched(trial: trial, done: done, share: share, command: command) }
  }

  /// Watches nothing until the next ``watch(_:done:share:command:)``.
  func rest() {
    lock.withLock { watched = nil }
  }

  /// Prints a line that stays.
  func print(_ line: String) {
    lock.withLock { Console.output.print(line) }
  }

  private func check() {
    let stuck: String? = lock.withLock {
      guard var current = watched else { return nil }
      let now = ContinuousClock.now
      // Rounds and not operations: some threads may go on for ever while others are stuck.
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
    for (index, activity) in trial.activities.enumerated() {
      let name = index == trial.activities.count - 1 ? "the rest" : "thread \(index)"
      lines.append("  \(name): \(activity.step), after \(activity.operations.grouped) operations")
    }
    return (lines + ["repeat with: \(command)"]).joined(separator: "\n")
  }

  /// Ends the process at once, without running exit handlers: threads are stuck.
  static func endProcess(_ description: String) {
    Console.error.print(description)
    _exit(3)
  }
}
