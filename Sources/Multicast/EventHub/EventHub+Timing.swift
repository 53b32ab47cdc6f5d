extension EventHub {
  /// Measures how long the handlers of subscriptions that are made from now on take; ``snapshot``
  /// has the results.
  ///
  /// Every call is counted, and one of `interval` is measured. By default that costs 3 to 15 ns per
  /// delivery, and up to 25 with 10,000 handlers. A call of an asynchronous handler lasts until it
  /// has returned, with its suspensions.
  ///
  /// - Parameters:
  ///   - interval: how many calls there are for each that is measured, rounded up to a power of
  ///     two. 1: each is measured.
  ///   - limit: the longest call that is not slow.
  ///   - onSlow: called after a measured call that was slow, where the handler was called, with no
  ///     lock held; for each handler again only after a call that took more than twice as long.
  /// - Precondition: `interval` is at least 1, and this was not called before.
  /// - Complexity: O(1).
  public func measureHandlers(
    sampling interval: Int = 64, slowerThan limit: Duration = .seconds(1),
    _ onSlow: (@Sendable (SlowHandlerWarning) -> Void)? = nil
  ) {
    TimingPlan(sampling: interval, limit, onSlow, hub: name)
      .install(in: registry.inspectionOrNew().timing)
  }

  /// `origin` with a timer, if the hub measures its handlers.
  func measured(_ origin: Origin) -> Origin {
    guard let plan = registry.currentTiming else { return origin }
    var origin = origin
    origin.timer = CallTimer(plan, .handler, hub: registry.nameInWarnings, origin)
    return origin
  }
}

extension HandlerDelivery {
  /// A delivery at the same place, whose calls `timer` measures.
  func measured(by timer: CallTimer?) -> Self {
    guard let timer else { return self }
    return wrapped { handler in
      { event in
        let began = timer.begin()
        handler(event)
        timer.end(began)
      }
    } async: { handler in
      { event in
        let began = timer.begin()
        await handler(event)
        timer.end(began)
      }
    }
  }
}
