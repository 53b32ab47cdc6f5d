extension MulticastActor {
  /// What the hub looks like now: its receivers, where they were registered, and what waits for
  /// them.
  ///
  /// It retains each delegate for a moment, as ``delegates`` does.
  ///
  /// - Complexity: O(`count`).
  public nonisolated var snapshot: HubSnapshot {
    registry.snapshot(of: "MulticastActor", for: Delegate.self)
  }

  /// Calls `handler` once for each line of the program of which more than `limit` registrations
  /// exist at once: perhaps a leak.
  ///
  /// Only registrations that are made after this call count. The line of `+=` is not known.
  ///
  /// - Parameters:
  ///   - limit: the most registrations of one line that are no leak.
  ///   - handler: called by the thread that registers, with no lock held. It may register and
  ///     cancel.
  /// - Precondition: `limit` is at least 1, and this was not called before.
  /// - Complexity: O(1). Afterwards each registration costs an allocation more, and a warning
  ///   O(`count`).
  public nonisolated func warnOfLeaks(
    above limit: Int = 100, _ handler: @escaping @Sendable (LeakWarning) -> Void
  ) {
    registry.watchForLeaks(above: limit, handler)
  }
}

extension MulticastActor: InspectableHub {}
