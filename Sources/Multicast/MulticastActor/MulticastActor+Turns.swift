extension MulticastActor {
  /// Returns when it is the turn of the invocation that asks.
  ///
  /// - Returns: whether it has to call ``endTurn()``.
  @usableFromInline
  func takeTurn() async -> Bool {
    switch turns.arrive(calls) {
    case .first:
      return true
    case .nested:
      return false
    case .queued:
      await suspend { turns.wait($0) }
      return true
    }
  }

  @usableFromInline
  func endTurn() {
    turns.end()?.resume()
  }
}
