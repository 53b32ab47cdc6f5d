extension MulticastActor {
  /// Waits until the calling invocation may run: until those before it have ended, unless it is
  /// nested in the running one.
  ///
  /// - Returns: whether the caller must call ``leaveQueue()``.
  @usableFromInline
  func enterQueue() async -> Bool {
    switch invocationQueue.arrive(calls) {
    case .first:
      return true
    case .nested:
      return false
    case .queued:
      await suspend { invocationQueue.wait($0)?.resume() }
      return true
    }
  }

  /// Ends the running invocation and starts the next.
  @usableFromInline
  func leaveQueue() {
    invocationQueue.end()?.resume()
  }
}
