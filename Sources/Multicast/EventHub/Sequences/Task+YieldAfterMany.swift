extension Task where Success == Never, Failure == Never {
  /// Yields if this was called 64 times on the thread since a call that yielded. Called for each
  /// event that is sent with `sendWaiting`, and for the first result of each iterator.
  ///
  /// A task that never suspends stays on its thread, so a count for each thread suffices.
  static func yieldAfterMany() async {
    guard isYieldDue() else { return }
    await Task.yield()
  }

  private static func isYieldDue() -> Bool {
    let thread = ThreadCallStack.current
    thread.pointee.unsuspendedCalls += 1
    guard thread.pointee.unsuspendedCalls > 64 else { return false }
    thread.pointee.unsuspendedCalls = 1
    return true
  }
}
