// Jobs on actors, and tasks that wait for them.
//
//     lane ──▶ a parked task, or else a new one ──▶ the job, on its actor ──▶ parks again, or ends
//
// A new task for each job takes half as many instructions again as a job that calls one handler in a
// task that waited (9,500 and 6,400, with valgrind). So a task that has run a job waits for the next
// one, of any lane. It waits outside of the actor, and keeps neither that nor the lane alive.
//
// Most actors run on the global pool. A job that is enqueued on one of them from outside is enqueued
// on the pool, with an object that leads to the actor. A task that begins in the pool and then
// switches to the actor needs no such object, and enters an idle actor at once. The main actor, and
// an actor with an executor of its own, run elsewhere: to them a task that waits in the pool would
// come later than a new one, which is enqueued there directly.

/// What a task runs on an actor, without a closure for it.
protocol ActorJob: AnyObject, Sendable {
  func run(on home: isolated any Actor)
}

extension ActorJob {
  /// Starts this on `home`, in a task that keeps both alive until it has run.
  ///
  /// The task is none of the sender that happens to start it: it must not inherit its task-locals
  /// and its priority.
  ///
  /// - Parameter parked: see ``ParkedTasks/tasks(for:)``.
  func start(on home: any Actor, _ parked: ParkedTasks?) {
    if let parked {
      parked.run(ActorRun(job: self, home: home))
    } else {
      startTask(on: home, ActorWork { [self] in run(on: $0) })
    }
  }
}

/// A job, and its actor.
struct ActorRun: Sendable {
  let job: any ActorJob
  let home: any Actor
}

/// A task that runs one job after another.
private final class JobTask: @unchecked Sendable {
  // Sendable: used by the task, except while it waits: then by the thread that has taken it from the
  // list, until that resumes it. So an access is exclusive, and is not checked.

  /// The next job; `nil` ends the task.
  @exclusivity(unchecked) private var work: ActorRun?
  /// While the task waits.
  @exclusivity(unchecked) private var continuation: UnsafeContinuation<Void, Never>?

  init(_ first: ActorRun) {
    work = first
  }

  /// The next job, which this does not keep.
  func next() -> ActorRun? { work.take() }

  func willWait(for continuation: UnsafeContinuation<Void, Never>) {
    self.continuation = continuation
  }

  /// - Parameter work: what the task does next; `nil` ends it.
  func resume(_ work: ActorRun?) {
    self.work = work
    continuation.take()?.resume()
  }
}

/// Tasks that have run a job, and wait for the next one.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class ParkedTasks: @unchecked Sendable {
  // Sendable: `waiting` is used inside `lock` alone, so an access is exclusive, and is not checked.

  private static let shared = ParkedTasks()

  /// The most tasks that wait.
  static var limit: Int { 16 }

  /// No task is resumed, and nothing is released, inside.
  private let lock = Lock()
  /// The one that came last is taken first: most of its memory is in the caches.
  @exclusivity(unchecked) private var waiting: [JobTask] = []

  init() { waiting.reserveCapacity(Self.limit) }

  /// The tasks for jobs of an actor that runs on the global pool; `nil` for any other.
  ///
  /// Calls its `unownedExecutor`, which may be user code.
  static func tasks(for home: any Actor) -> ParkedTasks? {
    typealias Words = (identity: UInt, implementation: UInt)
    guard home !== MainActor.shared,
      MemoryLayout<UnownedSerialExecutor>.size == MemoryLayout<Words>.size
    else { return nil }
    // SAFETY: it has the size of two integers, and any bits are integers. An executor that is the
    // actor itself has no implementation.
    let executor = unsafeBitCast(home.unownedExecutor, to: Words.self)
    return executor.implementation == 0 ? shared : nil
  }

  /// The number of tasks that wait, for tests.
  var count: Int { lock.withLock { waiting.count } }

  /// Ends the tasks that wait, for tests: they keep this object, as it keeps them.
  func endAll() {
    while let task = lock.withLock({ waiting.popLast() }) { task.resume(nil) }
  }

  /// Gives `work` to a task that waits. Makes one if there is none, or if another thread is using
  /// the list: so no sender waits for the list.
  func run(_ work: ActorRun) {
    if let task = lock.withLockIfAvailable({ waiting.popLast() }) ?? nil {
      task.resume(work)
    } else {
      let task = JobTask(work)
      Task.detached { [self] in await runJobs(of: task) }
    }
  }

  private func runJobs(of task: JobTask) async {
    while let work = task.next() {
      await run(consume work)
      // A task that user code has cancelled in a handler is none for other handlers.
      guard !TaskIdentity.isCurrentCancelled else { return }
      await suspendUnchecked {
        task.willWait(for: $0)
        if !add(task) { task.resume(nil) }
      }
    }
  }

  /// Runs a job, and releases it and the actor: a task keeps neither while it waits.
  private func run(_ work: consuming ActorRun) async { await work.job.run(on: work.home) }

  /// Adds a task that waits.
  ///
  /// - Returns: `false` if enough tasks do.
  private func add(_ task: JobTask) -> Bool {
    lock.withLock {
      guard waiting.count < Self.limit else { return false }
      waiting.append(task)
      return true
    }
  }
}
