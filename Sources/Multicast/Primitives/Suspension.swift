// The library awaits every continuation here, because of a false report of the thread sanitizer.
//
// The runtime tells the sanitizer that what precedes `resume` happens before the task continues:
// `resume` releases the address of the task, and the executor acquires it when it runs the task
// again. A task whose continuation is already resumed when it awaits continues at once, after an
// acquiring load that the runtime does not report to the sanitizer
// (`swift_continuation_awaitImpl`). The sanitizer then reports a race between the read of the
// continuation in `resume` and the next use of the task's memory. So the task acquires its own
// address here. That states exactly the order that the load establishes: races with what the
// resuming thread does after `resume`, or without a continuation, are still reported
// (`SanitizerTests`).

internal import CMulticast

/// Suspends the task until the continuation passed to `body` is resumed.
///
/// - Parameter body: runs at once, on the isolation of the caller, and stores or resumes the
///   continuation.
@inline(__always)
func suspend(
  isolation: isolated (any Actor)? = #isolation,
  _ body: (CheckedContinuation<Void, Never>) -> Void
) async {
  await withCheckedContinuation(body)
  acquireResumption()
}

/// Like ``suspend(isolation:_:)``, without the check that the continuation is resumed exactly once.
@inline(__always)
func suspendUnchecked(
  isolation: isolated (any Actor)? = #isolation,
  _ body: (UnsafeContinuation<Void, Never>) -> Void
) async {
  // SAFETY: the caller ensures that the continuation is resumed exactly once.
  await withUnsafeContinuation(body)
  acquireResumption()
}

/// Tells the thread sanitizer what the runtime does not. Does nothing in other builds.
@inline(__always)
private func acquireResumption() {
  guard cmulticast_is_thread_sanitized else { return }
  // `resume` releases the address of the task.
  cmulticast_sanitizer_acquire(TaskIdentity.current.rawValue)
}
