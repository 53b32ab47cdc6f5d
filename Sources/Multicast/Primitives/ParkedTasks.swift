// Jobs on actors, and tasks that wait for them.
//
//     run queue ──▶ a parked task, or a new one ──▶ the job, on its actor ──▶ parks again, or ends
//
// A new task for each job takes half as many instructions again as a job that calls one handler in
// a task that waited (9,500 and 6,400, with valgrind). So a task that has run a job waits for the
// next one, of any run queue. It waits outside of the actor, and keeps neither that nor the run
// queue alive.
//
// Most actors run on the global pool. A job that is enqueued on one of them from outside is
// enqueued on the pool, with an object that leads to the actor. A task that begins in the pool and
// then switches to the actor needs no such object, and enters an idle actor at once.
//
// The main actor runs elsewhere. A task that resumes in the pool would come there later than a new
// one, which is enqueued there directly: two threads would have to wake up. So tasks of the main
// actor wait in another way, see `MainActorWait`. An actor with an executor of its own has a new
// task for each job.

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
  // Sendable: used by the task, except while it waits: then by the thread that has taken it from
  // the list, until that resumes it. So an access is exclusive, and is not checked.

  /// The next job; `nil` ends the task.
  @exclusivity(unchecked) private var work: ActorRun?
  /// While the task waits, what resumes it in the global pool, or else the job that resumes it on
  /// the main actor, once it is enqueued there.
  ///
  /// Not one enumeration, whose tag would be in the pointer to the task: a leak checker would not
  /// find the task.
  @exclusivity(unchecked) private var continuation: UnsafeContinuation<Void, Never>?
  @exclusivity(unchecked) private var mainActorJob: UnownedJob?

  init(_ first: ActorRun) {
    work = first
  }

  /// The next job, which this does not keep.
  func next() -> ActorRun? { work.take() }

  func willWait(for continuation: UnsafeContinuation<Void, Never>) {
    self.continuation = continuation
  }

  func willWait(for mainActorJob: UnownedJob) {
    self.mainActorJob = mainActorJob
  }

  /// - Parameter work: what the task does next; `nil` ends it.
  func resume(_ work: ActorRun?) {
    self.work = work
    if let continuation = continuation.take() {
      continuation.resume()
    } else if let job = mainActorJob.take() {
      MainActor.shared.enqueue(job)
    }
  }
}

/// How a task of the main actor waits.
///
/// The task switches to this actor. Its executor does not run the job that the switch enqueues, but
/// passes it on, to be kept until there is work. Enqueued on the main actor, that job continues the
/// task there: in ``pass()`` first, which is isolated to this actor, and then where the task wants
/// to be. So it needs no second switch.
///
/// No two threads are ever isolated to this actor, because only one task uses it.
private actor MainActorWait {
  private let executor: Executor
  private var passes = 0

  /// - Parameter keep: gets the job that continues the task, which has left the main actor.
  init(keep: @escaping @Sendable (UnownedJob) -> Void) {
    executor = Executor(keep: keep)
  }

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Returns when the job of the caller was enqueued on the main actor.
  func pass() {
    // The compiler leaves out a switch to an actor of which nothing is used.
    passes &+= 1
  }

  private final class Executor: SerialExecutor {
    private let keep: @Sendable (UnownedJob) -> Void

    init(keep: @escaping @Sendable (UnownedJob) -> Void) { self.keep = keep }

    func enqueue(_ job: consuming ExecutorJob) { keep(UnownedJob(job)) }

    /// Its jobs run on the main actor.
    func checkIsolated() { MainActor.preconditionIsolated() }
  }
}

/// Tasks that have run a job, and wait for the next one.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class ParkedTasks: @unchecked Sendable {
  // Sendable: `waiting` is used inside `lock` alone, so an access is exclusive, and is not checked.

  private static let onGlobalPool = ParkedTasks()
  private static let onMainActor = ParkedTasks(isOnMainActor: true)

  /// The most tasks that wait.
  static var limit: Int { 16 }

  /// Whether the tasks are isolated to the main actor.
  private let isOnMainActor: Bool
  /// No task is resumed, and nothing is released, inside.
  private let lock = Lock()
  /// The one that came last is taken first: most of its memory is in the caches.
  @exclusivity(unchecked) private var waiting: [JobTask] = []

  /// - Parameter isOnMainActor: whether all jobs are of the main actor; otherwise they are of
  ///   actors that run on the global pool.
  init(isOnMainActor: Bool = false) {
    self.isOnMainActor = isOnMainActor
    waiting.reserveCapacity(Self.limit)
  }

  /// The tasks for jobs of `home`; `nil` if that has an executor of its own.
  ///
  /// Calls its `unownedExecutor`, which may be user code.
  static func tasks(for home: any Actor) -> ParkedTasks? {
    typealias Words = (identity: UInt, implementation: UInt)
    if home === MainActor.shared { return onMainActor }
    guard MemoryLayout<UnownedSerialExecutor>.size == MemoryLayout<Words>.size else { return nil }
    // SAFETY: it has the size of two integers, and any bits are integers. An executor that is the
    // actor itself has no implementation.
    let executor = unsafeBitCast(home.unownedExecutor, to: Words.self)
    return executor.implementation == 0 ? onGlobalPool : nil
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
      return
    }
    let task = JobTask(work)
    if isOnMainActor {
      // Apart, because the compiler (6.3.1) cannot check it as an argument.
      let run: @MainActor @Sendable () async -> Void = { [self] in
        await runJobsOnMainActor(of: task)
      }
      Task.detached(operation: run)
    } else {
      Task.detached { [self] in await runJobsOnGlobalPool(of: task) }
    }
  }

  private func runJobsOnGlobalPool(of task: JobTask) async {
    while let work = task.next() {
      guard await run(consume work) else { return }
      await suspendUnchecked {
        task.willWait(for: $0)
        add(task)
      }
    }
  }

  @MainActor private func runJobsOnMainActor(of task: JobTask) async {
    let wait = MainActorWait { [self] in
      task.willWait(for: $0)
      add(task)
    }
    while let work = task.next() {
      guard runOnMainActor(consume work) else { return }
      await wait.pass()
    }
  }

  /// Runs a job, and releases it and the actor: a task keeps neither while it waits.
  ///
  /// - Returns: whether the task may run another one.
  private func run(_ work: consuming ActorRun) async -> Bool {
    await perform(work.job, on: work.home)
  }

  /// Runs a job, and releases it.
  ///
  /// - Returns: whether the task may run another one.
  @MainActor private func runOnMainActor(_ work: consuming ActorRun) -> Bool {
    perform(work.job, on: MainActor.shared)
  }

  /// Runs a job.
  ///
  /// - Returns: whether the task is still one as any other: not if user code has cancelled it in a
  ///   handler, nor if a handler has received an event of a sequence: a flush does not wait for a
  ///   sequence whose latest event its task received.
  private func perform(_ job: any ActorJob, on home: isolated any Actor) -> Bool {
    let thread = ThreadCallStack.first
    // A job runs inside of another one if an executor runs it at once, or in a nested run loop.
    let outer = thread.pointee.hasReceived
    defer { thread.pointee.hasReceived = outer }
    thread.pointee.hasReceived = false
    job.run(on: home)
    return !thread.pointee.hasReceived && !TaskIdentity.isCurrentCancelled
  }

  /// Adds a task that waits; ends it if enough tasks do.
  private func add(_ task: JobTask) {
    let isAdded = lock.withLock {
      guard waiting.count < Self.limit else { return false }
      waiting.append(task)
      return true
    }
    if !isAdded { task.resume(nil) }
  }
}
