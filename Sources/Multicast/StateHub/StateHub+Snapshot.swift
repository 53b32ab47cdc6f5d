extension StateHub {
  /// What the hub looks like now: its receivers, where they were registered, and what waits for
  /// them.
  ///
  /// It calls no code of the program. Only the `deinit` of what ends meanwhile may run here.
  ///
  /// - Complexity: O(subscribers).
  public var snapshot: HubSnapshot {
    let signals = hub.snapshot
    return HubSnapshot(
      type: "StateHub<\(State.self), \(Change.self)>", name: name, receivers: signals.receivers,
      dropped: signals.dropped, refused: signals.refused)
  }

  /// The name that `init` was given: it identifies the hub in descriptions and messages.
  ///
  /// - Complexity: O(1).
  public var name: String? { hub.name }

  /// Calls `handler` once for each line of the program of which more than `limit` registrations
  /// exist at once: perhaps a leak.
  ///
  /// Only registrations that are made after this call count.
  ///
  /// - Parameters:
  ///   - limit: the most registrations of one line that are no leak.
  ///   - handler: called by the thread that registers, with no lock held. It may register and
  ///     cancel.
  /// - Precondition: `limit` is at least 1, and this was not called before.
  /// - Complexity: O(1). Afterwards each registration costs an allocation more, and a warning
  ///   O(subscribers).
  public func warnOfLeaks(
    above limit: Int = 100, _ handler: @escaping @Sendable (LeakWarning) -> Void
  ) {
    hub.registry.watchForLeaks(above: limit, handler)
  }

  /// Measures how long the handlers of subscriptions that are made from now on take; see
  /// ``EventHub/measureHandlers(sampling:slowerThan:_:)``.
  ///
  /// - Parameters:
  ///   - interval: how many calls there are for each that is measured.
  ///   - limit: the longest call that is not slow.
  ///   - onSlow: called after a measured call that was slow.
  /// - Precondition: `interval` is at least 1, and this was not called before.
  /// - Complexity: O(1).
  public func measureHandlers(
    sampling interval: Int = 64, slowerThan limit: Duration = .seconds(1),
    _ onSlow: (@Sendable (SlowHandlerWarning) -> Void)? = nil
  ) {
    hub.measureHandlers(sampling: interval, slowerThan: limit, onSlow)
  }
}

extension StateHub: InspectableHub {}
