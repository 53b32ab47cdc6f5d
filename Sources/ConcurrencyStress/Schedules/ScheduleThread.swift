internal import Foundation

/// The thread on which the schedules of a test run.
struct ScheduleThread: Sendable {
  private let progress = WorkerActivity()

  init() {}

  /// Runs `body` on a thread of its own, and returns its result.
  ///
  /// Traps if a job does not end: it blocks the only thread.
  static func run<R: Sendable>(_ body: @escaping @Sendable (ScheduleThread) -> R) -> R {
    ScheduleThread().perform { body($0) }
  }

  func perform<R: Sendable>(_ body: @escaping @Sendable (ScheduleThread) -> R) -> R {
    let result = Holder<R>(nil)
    let done = Gate("a schedule")
    let thread = RunningThread(stackSize: 8 << 20) {
      result.value = body(self)
      done.open()
    }
    var steps = -1
    while !done.opens(within: timeLimit) {
      guard progress.operations != steps else {
        fatalError("a step of a schedule has not ended for \(timeLimit) s: it blocks its thread")
      }
      steps = progress.operations
    }
    thread.join()
    return result.value!
  }

  /// Runs one schedule of `test`.
  func run(_ test: ScheduleTest, _ chooser: ScheduleChooser, seed: UInt64?) -> ScheduleResult {
    let run = ScheduleRun(test, self)
    run.start()
    return run.finish(chooser, seed: seed)
  }

  fileprivate var activity: WorkerActivity { progress }
}

/// One schedule that is prepared or running.
final class ScheduleRun: @unchecked Sendable {
  // Sendable: `task` is written by the thread that prepares the run, before the thread that runs it
  // begins.
  private let test: ScheduleTest
  private let executor: ScheduleExecutor
  let schedule: Schedule
  private let ends = Counter()
  private var task: Task<Void, Never>?

  init(_ test: ScheduleTest, _ thread: ScheduleThread) {
    self.test = test
    executor = ScheduleExecutor(
      patience: test.patience, stepLimit: test.stepLimit, progress: thread.activity)
    schedule = Schedule(executor)
  }

  /// Whether the body has returned or thrown.
  var hasEnded: Bool { ends.value > 0 }

  /// Makes the first task, with the task-local values of the caller. It does not run yet.
  func start() {
    task = Task(executorPreference: executor) { [body = test.body, schedule, ends] in
      do {
        try await body(schedule)
      } catch {
        schedule.fail("the body threw \(error)")
      }
      ends.add()
    }
  }

  /// Runs the jobs of all tasks on this thread.
  func finish(_ chooser: ScheduleChooser, seed: UInt64?) -> ScheduleResult {
    var chooser = chooser
    let call = seed.map { "replay(seed: \($0))" } ?? "replay(choices: \(chooser.firstChoices))"
    CrashNotice.prepareThread("a schedule crashed\nrepeat with: \(call)")
    defer { CrashNotice.prepareThread(nil) }
    let ending = GlobalJobs.capture(for: executor) {
      // What other threads still hold may be released soon.
      executor.run(&chooser, until: { hasEnded }, isSettled: { schedule.lifetimes.live == 0 })
    }
    let decisions = executor.decisions
    switch ending {
    case .finished:
      task = nil
      let live = schedule.lifetimes.live
      schedule.expect(
        live == 0, "\(live) of \(schedule.lifetimes.created) objects were never destroyed")
      let late = schedule.lifetimes.lateCalls
      schedule.expect(late == 0, "\(late) calls came too late")
    case .deadlock:
      schedule.fail("deadlock: no task can run, and the first one has not ended")
    case .tooManySteps:
      schedule.fail("no end after \(test.stepLimit.grouped) steps")
    }
    let result = ScheduleResult(
      messages: schedule.brokenPromises, decisions: decisions, notes: executor.notes,
      hasForeignJobs: executor.hasForeignJobs, step: executor.step)
    if ending != .finished { abandon(&chooser) }
    executor.close()
    return result
  }

  /// Cancels the first task, so that as much as possible ends. What does not end stays in memory.
  private func abandon(_ chooser: inout ScheduleChooser) {
    GlobalJobs.capture(for: executor) {
      task?.cancel()
      _ = executor.run(&chooser) { true }
    }
    if !hasEnded || executor.hasJobs { Self.abandoned.append(self) }
  }

  /// Runs with tasks that never end and may refer to their executor. Reachable, because they are no
  /// leak of the code under test.
  private static let abandoned = AbandonedRuns()
}

private final class AbandonedRuns: @unchecked Sendable {
  // Sendable: `runs` is accessed under `lock` only.
  private let lock = NSLock()
  private var runs: [ScheduleRun] = []

  func append(_ run: ScheduleRun) { lock.withLock { runs.append(run) } }
}

/// What one schedule did.
struct ScheduleResult: Sendable {
  let messages: [String]
  let decisions: [ScheduleDecision]
  let notes: [ScheduleNote]
  let hasForeignJobs: Bool
  let step: Int
}

extension ScheduleResult {
  /// The report of this schedule, which broke a promise.
  ///
  /// - Parameter again: a second run with the same seed.
  func failure(of order: ScheduleOrder?, seed: UInt64?, again: Self) -> ScheduleReport.Failure {
    let choices = decisions.map(\.choice)
    var lines = messages.map { "a schedule of \(decisions.count) steps failed: \($0)" }
    if !notes.isEmpty { lines += ["", columns, ""] }
    if let seed {
      lines.append(
        "repeat with: replay(seed: \(seed))\(order == .random ? "" : ", order \(order!)")")
    } else {
      lines.append("repeat with: replay(choices: \(choices))")
    }
    if hasForeignJobs {
      lines.append(
        "another thread woke a task, so the choices do not decide everything: main actor, queues, "
          + "threads and clocks other than that of the schedule")
    } else if again.decisions != decisions || again.messages.isEmpty {
      lines.append(
        "a second run with the same choices took another course: the code depends on something "
          + "else, such as random numbers or the order of a set")
    }
    return ScheduleReport.Failure(
      messages: messages, seed: seed, choices: choices, text: lines.joined(separator: "\n"))
  }

  /// The notes, with a column for each task.
  private var columns: String {
    var names: [String] = []
    for note in notes where !names.contains(note.column) { names.append(note.column) }
    let titles = names.enumerated().map { $1.hasPrefix("#") ? "task \($0 + 1)" : $1 }
    return Columns.text(
      [["step"] + titles]
        + notes.map { note in
          ["\(note.step)"] + names.map { $0 == note.column ? note.text : "" }
        })
  }
}
