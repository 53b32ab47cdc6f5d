extension MulticastDelegate {
  /// What the hub looks like now: its receivers, where they were registered, and what waits for
  /// them.
  ///
  /// It retains each delegate for a moment, as ``delegates`` does.
  ///
  /// - Complexity: O(`count`).
  public var snapshot: HubSnapshot {
    registry.snapshot(of: "MulticastDelegate", for: Delegate.self)
  }

  /// Calls `handler` once for each line of the program of which more than `limit` registrations
  /// exist at once: perhaps a leak.
  ///
  /// Only registrations that are made after this call count, and not those of `+=`, whose line is
  /// not known.
  ///
  /// - Parameters:
  ///   - limit: the most registrations of one line that are no leak.
  ///   - handler: called by the thread that registers, with no lock held. It may register and
  ///     cancel.
  /// - Precondition: `limit` is at least 1, and this was not called before.
  /// - Complexity: O(1). Afterwards each registration costs an allocation more, and a warning
  ///   O(`count`).
  public func warnOfLeaks(
    above limit: Int = 100, _ handler: @escaping @Sendable (LeakWarning) -> Void
  ) {
    registry.watchForLeaks(above: limit, handler)
  }

  /// Measures how long the calls of delegates that are added from now on take; ``snapshot`` has the
  /// results.
  ///
  /// Every call is counted, and one of `interval` is measured. A call of ``invoke(onEach:_:)``
  /// lasts until the closure has returned, with its suspensions. The functions with `as:` also
  /// count the delegates that they skip; a `for` loop over the hub counts none. By default it costs
  /// 6 to 7 ns per call of a strong delegate, or of a weak one; other delegates cost nothing more.
  ///
  /// - Parameters:
  ///   - interval: how many calls there are for each that is measured, rounded up to a power of
  ///     two. 1: each is measured.
  ///   - limit: the longest call that is not slow.
  ///   - onSlow: called after a measured call that was slow, where the delegate was called, with no
  ///     lock held; for each delegate again only after a call that took more than twice as long.
  /// - Precondition: `interval` is at least 1, and this was not called before.
  /// - Complexity: O(1).
  public func measureDelegates(
    sampling interval: Int = 64, slowerThan limit: Duration = .seconds(1),
    _ onSlow: (@Sendable (SlowHandlerWarning) -> Void)? = nil
  ) {
    TimingPlan(sampling: interval, limit, onSlow, .delegate, hub: name)
      .install(in: registry.inspectionOrNew().timing)
  }
}

extension MulticastDelegate: InspectableHub {}
