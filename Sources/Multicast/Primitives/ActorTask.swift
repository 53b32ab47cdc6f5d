// Tasks on an actor that is known only at run time.

/// What a task does on the actor on which it runs.
///
/// A structure: where a generic function takes a bare one, the compiler wraps it twice.
struct ActorWork: Sendable {
  let run: @Sendable (isolated any Actor) async -> Void

  init(_ run: @escaping @Sendable (isolated any Actor) async -> Void) { self.run = run }
}

/// What a task runs on an actor, without a closure for it.
protocol ActorJob: AnyObject, Sendable {
  func run(on home: isolated any Actor)
}

/// Starts a task that runs `job` on `home`, and keeps both alive. See ``startTask(on:_:)``.
func startTask<Job: ActorJob>(on home: any Actor, running job: Job) {
  // SAFETY: as there.
  let start = unsafeBitCast(
    startIsolatedJob as (isolated any Actor, Job) -> Void, to: ((any Actor, Job) -> Void).self)
  start(home, job)
}

private func startIsolatedJob<Job: ActorJob>(_ home: isolated any Actor, _ job: Job) {
  // The closure is isolated to `home` because it captures it.
  startTaskHere { job.run(on: home) }
}

/// Starts a task that does `work` on `home`, and keeps `home` alive.
///
/// The task is enqueued on that actor directly, without a detour over the global executor. It is a
/// task of its own, and not a child: it must not inherit the task-locals and the priority of the
/// sender that happens to start it.
func startTask(on home: any Actor, _ work: ActorWork) {
  // SAFETY: `startIsolatedTask` has an isolated parameter only so that the closure it makes is
  // isolated. It uses nothing of the actor, so it may be called anywhere. A synchronous function
  // with an isolated parameter is called like one without: `assumeIsolated` relies on that too.
  let start = unsafeBitCast(
    startIsolatedTask as (isolated any Actor, ActorWork) -> Void,
    to: ((any Actor, ActorWork) -> Void).self)
  start(home, work)
}

private func startIsolatedTask(_ home: isolated any Actor, _ work: ActorWork) {
  // The closure is isolated to `home` because it captures it.
  startTaskHere { await work.run(home) }
}

/// Starts a detached task that is isolated as its context is. The parameter of `Task.detached` does
/// not inherit that. Generic, as `Task.detached` is, so that the compiler does not wrap the job.
private func startTaskHere<Success: Sendable>(
  @_inheritActorContext _ job: sending @escaping @isolated(any) () async -> Success
) {
  Task.detached(operation: job)
}
