// Every continuation of the library is awaited here, and nowhere else.
//
// The runtime tells the thread sanitizer that what precedes `resume` happens before the task goes
// on: `resume` releases the address of the task, and the executor acquires it when it runs the task
// again. A continuation that was resumed before it is awaited takes another path: the task goes on
// at once, after an atomic load that acquires, but the runtime does not tell the sanitizer
// (`swift_continuation_awaitImpl`). The sanitizer then takes the read of the continuation in
// `resume` and the next use of the task's memory for a race. So the task acquires its own address
// here. That states exactly the order that the load establishes: what the resuming thread does
// after `resume`, or without a continuation, is still reported (`SanitizerTests`).

internal import CMulticast

/// Suspends the task until the continuation that `body` gets is resumed.
///
/// - Parameter body: called at once, on the isolation of the caller. It stores the continuation or
///   resumes it.
@inline(__always)
func suspend(
  isolation: isolated (any Actor)? = #isolation,
  _ body: (CheckedContinuation<Void, Never>) -> Void
) async {
  await withCheckedContinuation(body)
  acquireResumption()
}

/// As ``suspend(isolation:_:)``, without the check that the continuation is resumed once.
@inline(__always)
func suspendUnchecked(
  isolation: isolated (any Actor)? = #isolation,
  _ body: (UnsafeContinuation<Void, Never>) -> Void
) async {
  // SAFETY: it is left to the caller that the continuation is resumed once.
  await withUnsafeContinuation(body)
  acquireResumption()
}

/// Tells the thread sanitizer what the runtime does not; does nothing without it.
@inline(__always)
private func acquireResumption() {
  guard cmulticast_is_thread_sanitized else { return }
  // The address that the runtime releases in `resume`: that of the task.
  cmulticast_sanitizer_acquire(TaskIdentity.current.rawValue)
}
