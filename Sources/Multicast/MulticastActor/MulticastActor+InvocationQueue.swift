extension MulticastActor {
  /// Returns when it is the turn of the invocation that asks.
  ///
  /// - Returns: whether it has to call ``leaveQueue()``.
  @usableFromInline
  func enterQueue() async -> Bool {
    switch invocationQueue.arrive(calls) {
    case .first:
      return true
    case .nested:
      return false
    case .queued:
      await suspend { invocationQueue.wait($0) }
      return true
    }
  }

  @usableFromInline
  func leaveQueue() {
    invocationQueue.end()?.resume()
  }
}
