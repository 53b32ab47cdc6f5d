// Work that an actor runs, for an actor that is known only at run time.

/// Asynchronous work that belongs to the actor it was made for: the task of such an operation is
/// enqueued on that actor directly, without a detour over the global executor.
typealias ActorJob = @isolated(any) @Sendable () async -> Void

/// Work that is passed the actor on which it runs.
typealias ActorWork = @Sendable (isolated any Actor) async -> Void

/// A job that runs `work` on `home`, and keeps `home` alive.
func makeActorJob(on home: any Actor, _ work: @escaping ActorWork) -> ActorJob {
  // SAFETY: `makeIsolatedJob` has an isolated parameter only so that the closure it makes is
  // isolated. It uses nothing of the actor, so it may be called anywhere. A synchronous function
  // with an isolated parameter is called like one without: `assumeIsolated` relies on that too.
  let make = unsafeBitCast(
    makeIsolatedJob as (isolated any Actor, @escaping ActorWork) -> ActorJob,
    to: ((any Actor, @escaping ActorWork) -> ActorJob).self)
  return make(home, work)
}

private func makeIsolatedJob(
  _ home: isolated any Actor, _ work: @escaping ActorWork
) -> ActorJob {
  // The closure is isolated to `home` because it captures it.
  inheritingIsolation { await work(home) }
}

/// Returns `job`, isolated as its context is. A `@Sendable` closure elsewhere would not be.
private func inheritingIsolation(@_inheritActorContext _ job: @escaping ActorJob) -> ActorJob {
  job
}
