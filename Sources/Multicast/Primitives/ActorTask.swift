// Tasks on an actor that is known only at run time.

/// What a task does on the actor on which it runs.
///
/// A structure: where a generic function takes a bare one, the compiler wraps it twice.
struct ActorWork: Sendable {
  let run: @Sendable (isolated any Actor) async -> Void

  init(_ run: @escaping @Sendable (isolated any Actor) async -> Void) { self.run = run }
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
