internal import Foundation

/// A watchdog for the trial that is running: shows its progress, fails it if the process needs too
/// much memory, and ends the process if no round ends.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class Monitor: @unchecked Sendable {
  // Sendable: everything that changes is accessed under `lock` only.
  private let lock = NSLock()
  private let stall: Double
  private let memoryLimit: Int?
  private let showsProgress: Bool
  private let onStall: @Sendable (String) -> Void
  private var watched: Watched?
  private var peak = 0

  private struct Watched {
    let trial: Trial
    let done: Double
    let share: Double
    let command: String
    let began = ContinuousClock.now
    var rounds = 0
    var moved = ContinuousClock.now
    var shown = ContinuousClock.now
    var failed = false
  }

  /// - Parameters:
  ///   - stall: the number of seconds without the end of a round after which the process is ended.
  ///   - memoryLimit: the resident memory in megabytes above which the trial fails.
  ///   - showsProgress: whether to show the progress of a trial.
  ///   - interval: the number of seconds between two checks.
  ///   - onStall: what to do then, given a description of what is stuck.
  init(
    stall: Double, memoryLimit: Int? = nil, showsProgress: Bool = true, interval: Double = 0.1,
    onStall: @escaping @Sendable (String) -> Void = Monitor.endProcess
  ) {
    self.stall = stall
    self.memoryLimit = memoryLimit
    self.showsProgress = showsProgress
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

  /// Checks the memory once more, because a trial may be shorter than the interval, and watches
  /// nothing until the next ``watch(_:done:share:command:)``.
  func rest() {
    let memory = readMemory()
    lock.withLock {
      checkMemory(memory)
      watched = nil
    }
  }

  /// The most resident memory that was seen, in bytes.
  var peakMemory: Int {
    _ = readMemory()
    return lock.withLock { peak }
  }

  /// Prints a line that stays.
  func print(_ line: String) {
    lock.withLock { Console.output.print(line) }
  }

  private func check() {
    let memory = readMemory()
    let stuck: String? = lock.withLock {
      checkMemory(memory)
      guard var current = watched else { return nil }
      defer { if watched != nil { watched = current } }
      let now = ContinuousClock.now
      // Rounds and not operations: some threads may go on for ever while others are stuck.
      let rounds = current.trial.rounds
      if rounds != current.rounds { (current.rounds, current.moved) = (rounds, now) }
      let pause = Console.output.isTerminal ? 0.2 : 5
      if showsProgress, (now - current.shown).seconds >= pause {
        current.shown = now
        Console.output.show(
          StressReport.progress(
            current.trial, done: current.done + current.share * current.trial.progress,
            seconds: (now - current.began).seconds))
      }
      guard (now - current.moved).seconds >= stall else { return nil }
      watched = nil
      return Self.describe(current.trial, stall, current.command)
    }
    if let stuck { onStall(stuck) }
  }

  /// Fails the trial if the process needs too much memory, once. Inside the lock.
  private func checkMemory(_ memory: Int) {
    guard let memoryLimit, memory > memoryLimit << 20, let current = watched, !current.failed else {
      return
    }
    watched?.failed = true
    current.trial.fail(
      "the process uses \((memory >> 20).grouped) MB of memory, above the limit of "
        + "\(memoryLimit.grouped) MB")
  }

  /// The resident memory now, in bytes. Counts towards the peak.
  private func readMemory() -> Int {
    let now = ProcessMemory.resident
    lock.withLock { peak = max(peak, now) }
    return now
  }

  private static func describe(_ trial: Trial, _ stall: Double, _ command: String) -> String {
    var lines = ["STUCK   \(trial.label): no round has ended for \(stall.shortened) s"]
    for (index, activity) in trial.activities.enumerated() {
      let name = index == trial.activities.count - 1 ? "the rest" : "thread \(index)"
      lines.append("  \(name): \(activity)")
    }
    return (lines + ["repeat with: \(command)"]).joined(separator: "\n")
  }

  /// Ends the process at once, without running exit handlers: threads are stuck.
  static func endProcess(_ description: String) {
    Console.error.print(description)
    _exit(3)
  }
}
