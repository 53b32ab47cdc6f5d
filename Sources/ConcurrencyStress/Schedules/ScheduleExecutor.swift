internal import Dispatch
internal import Foundation

/// A task executor that runs one job at a time, on the thread that calls ``run(_:)``, in the order
/// that a chooser decides.
///
/// A job is the part of a task between two suspensions. Jobs come from three sources: tasks that
/// prefer this executor, and the actors they call; tasks that were started on the running thread
/// without a preference (see ``GlobalJobs``); and sleeping tasks, whose time passes when nothing
/// else is left to run.
///
/// ## Thread safety
/// One thread runs the jobs, and reads `decisions`. Everything else may be called from any thread.
final class ScheduleExecutor: TaskExecutor, @unchecked Sendable {
  // Sendable: `state` is accessed under `condition` only; `decisions` by the thread that runs the
  // jobs, and by others when that has ended; the rest never changes.
  private let condition = NSCondition()
  private var state = State()
  /// Which job was chosen at each step.
  private(set) var decisions: [ScheduleDecision] = []
  /// How many seconds to wait for a job of another thread before there is a deadlock.
  private let patience: Double
  private let stepLimit: Int
  private let progress: WorkerActivity

  fileprivate struct State {
    var ready: [ScheduledJob] = []
    var sleeping: [Sleeper] = []
    /// How often something fell asleep.
    var sleeps = 0
    /// The time that has passed for those who sleep.
    var now = Duration.zero
    /// The number of each task, in the order of their first jobs.
    var numbers: [UInt64: Int] = [:]
    /// The number of the task whose job is running.
    var running: Int?
    /// Whether another thread enqueued a job.
    var hasForeignJobs = false
    /// When the run ended, if it has.
    var end: ContinuousClock.Instant?
    var thread: pthread_t?
    /// The number of the step that is running, from 1.
    var step = 0
    var notes: [ScheduleNote] = []
  }

  /// What wakes when its time has come.
  fileprivate struct Sleeper {
    let due: Duration
    let number: Int
    let wake: Wake
  }

  enum Wake {
    case job(UnownedJob)
    case call(@Sendable () -> Void)
  }

  /// How a run ended.
  enum Ending: Equatable {
    case finished
    case deadlock
    case tooManySteps
  }

  init(patience: Double, stepLimit: Int, progress: WorkerActivity) {
    self.patience = patience
    self.stepLimit = stepLimit
    self.progress = progress
  }
}

// MARK: - Jobs that become ready

extension ScheduleExecutor {
  func enqueue(_ job: consuming ExecutorJob) {
    let id = Self.taskID(job.description)
    add(UnownedJob(job), id)
  }

  /// Adds a job that did not prefer this executor.
  func adopt(_ job: UnownedJob) {
    let id = Self.taskID(job.description)
    if let id { GlobalJobs.adopters.insert(id, self) }
    add(job, id)
  }

  /// Adds a job of a task that was adopted, and that another thread has woken.
  func takeBack(_ job: UnownedJob) {
    add(job, Self.taskID(job.description))
  }

  private func add(_ job: UnownedJob, _ id: UInt64?) {
    let isClosed = condition.withLock {
      if state.end != nil { return true }
      if let thread = state.thread, pthread_equal(thread, pthread_self()) == 0 {
        state.hasForeignJobs = true
      }
      state.ready.append(ScheduledJob(job: job, task: state.number(of: id)))
      condition.signal()
      return false
    }
    guard isClosed else { return }
    // A task that outlived its schedule goes on elsewhere.
    DispatchQueue.global().async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }

  /// The number in a text such as `ExecutorJob(id: 3)`: that of the task whose job it is. A job
  /// that serves an actor has none.
  static func taskID(_ description: String) -> UInt64? {
    guard let colon = description.lastIndex(of: ":") else { return nil }
    return UInt64(description[colon...].dropFirst(2).dropLast())
  }

  /// Wakes after this delay, in the time of the schedule.
  func sleep(_ delay: Duration, _ wake: Wake) {
    let isClosed = condition.withLock {
      if state.end != nil { return true }
      state.sleeps += 1
      state.sleeping.append(
        Sleeper(due: state.now + max(delay, .zero), number: state.sleeps, wake: wake))
      condition.signal()
      return false
    }
    if isClosed { sleepElsewhere(delay, wake) }
  }

  /// Wakes after this delay of real time: the schedule has ended.
  private func sleepElsewhere(_ delay: Duration, _ wake: Wake) {
    DispatchQueue.global().asyncAfter(deadline: .now() + delay.seconds.asWait) {
      switch wake {
      case .job(let job): job.runSynchronously(on: self.asUnownedTaskExecutor())
      case .call(let call): call()
      }
    }
  }

  /// The time that has passed for those who sleep: after the end of the schedule real time.
  var now: Duration {
    condition.withLock { state.now + (state.end.map { .now - $0 } ?? .zero) }
  }

  /// Whether something is ready to run, or sleeps.
  var hasJobs: Bool { condition.withLock { !state.ready.isEmpty || !state.sleeping.isEmpty } }

  /// The number of the step that is running, from 1.
  var step: Int { condition.withLock { state.step } }

  /// What tasks reported, with the step in which they did.
  var notes: [ScheduleNote] { condition.withLock { state.notes } }

  func note(_ text: String, column: String) {
    condition.withLock {
      state.notes.append(ScheduleNote(step: state.step, column: column, text: text))
    }
  }

  /// Whether a job came from another thread: then the seed does not decide everything.
  var hasForeignJobs: Bool { condition.withLock { state.hasForeignJobs } }
}

extension ScheduleExecutor.State {
  /// The number of a task. A job that serves an actor counts as one of the task that enqueued it.
  mutating func number(of id: UInt64?) -> Int {
    guard let id else { return running ?? -1 }
    if let number = numbers[id] { return number }
    numbers[id] = numbers.count + 1
    return numbers.count
  }

  /// Lets the time pass until a sleeper is due, and returns those that are.
  fileprivate mutating func wake() -> [ScheduleExecutor.Wake] {
    guard let due = sleeping.map(\.due).min() else { return [] }
    now = max(now, due)
    let awake = sleeping.filter { $0.due <= now }.sorted { $0.number < $1.number }
    sleeping.removeAll { $0.due <= now }
    return awake.map(\.wake)
  }
}

// MARK: - Running

extension ScheduleExecutor {
  /// Runs jobs until none is left.
  ///
  /// - Parameters:
  ///   - chooser: chooses the next job.
  ///   - isDone: whether the first task has ended.
  ///   - isSettled: whether nothing more is expected then of other threads.
  func run(
    _ chooser: inout ScheduleChooser, until isDone: () -> Bool,
    isSettled: () -> Bool = { true }
  ) -> Ending {
    condition.withLock { state.thread = pthread_self() }
    let end = decisions.count + stepLimit
    while true {
      let ready = condition.withLock { state.ready.map(\.task) }
      if ready.isEmpty {
        if wakeSleepers() { continue }
        let isOver = isDone()
        if isOver && isSettled() { return .finished }
        let seconds = isOver ? min(patience, 1) : patience
        if waitForForeignJob(seconds, unless: { isOver && isSettled() }) { continue }
        return isOver ? .finished : .deadlock
      }
      guard decisions.count < end else { return .tooManySteps }
      let choice = chooser.choose(ready)
      let job = condition.withLock {
        let job = state.ready.remove(at: choice)
        state.running = job.task
        state.step += 1
        return job
      }
      decisions.append(ScheduleDecision(choice: choice, of: ready.count, task: job.task))
      progress.add(1)
      job.job.runSynchronously(on: asUnownedTaskExecutor())
      condition.withLock { state.running = nil }
    }
  }

  /// From now on, jobs run elsewhere, and time is real. To be called when a run has ended.
  func close() {
    GlobalJobs.adopters.remove(self)
    let (ready, sleeping, now) = condition.withLock {
      state.end = .now
      defer { (state.ready, state.sleeping) = ([], []) }
      return (state.ready, state.sleeping, state.now)
    }
    for sleeper in sleeping { sleepElsewhere(sleeper.due - now, sleeper.wake) }
    for job in ready {
      DispatchQueue.global().async { job.job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
  }

  /// - Returns: whether something woke.
  private func wakeSleepers() -> Bool {
    let awake = condition.withLock { state.wake() }
    for wake in awake {
      switch wake {
      case .job(let job): adopt(job)
      case .call(let call): call()
      }
    }
    return !awake.isEmpty
  }

  /// - Parameters:
  ///   - seconds: how long to wait.
  ///   - isSettled: whether there is nothing to wait for any more.
  /// - Returns: whether another thread has enqueued a job.
  private func waitForForeignJob(_ seconds: Double, unless isSettled: () -> Bool) -> Bool {
    let deadline = Date(timeIntervalSinceNow: seconds.asWait)
    return condition.withLock {
      while state.ready.isEmpty && state.sleeping.isEmpty && !isSettled() {
        // What settles does not signal.
        let next = min(deadline, Date(timeIntervalSinceNow: 0.01))
        guard condition.wait(until: next) || next < deadline else { break }
      }
      return !state.ready.isEmpty || !state.sleeping.isEmpty
    }
  }
}

/// A job that is ready to run.
fileprivate struct ScheduledJob: Sendable {
  let job: UnownedJob
  /// The number of its task.
  let task: Int
}

/// Which job a schedule has chosen at one step.
struct ScheduleDecision: Equatable, Sendable {
  /// The index of the job among those that were ready, in the order in which they became so.
  let choice: Int
  /// How many were ready.
  let of: Int
  /// The number of its task.
  let task: Int
}

/// What a task has reported.
struct ScheduleNote: Equatable, Sendable {
  let step: Int
  let column: String
  let text: String
}
