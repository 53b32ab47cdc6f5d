extension EventHub {
  /// Finishes the hub: it accepts no more events.
  ///
  /// Handlers that senders call are removed. Subscribers with a buffer receive what waits and then
  /// end. Later subscribers receive the replay, or what is retained, and then end. Later events are
  /// refused and counted. Finishing again does nothing. In a hub with one order (see ``Ordering``),
  /// if a sender is delivering, that sender ends the subscribers after the events sent before.
  ///
  /// - Complexity: O(subscribers).
  public func finish() {
    finish(nil)
  }

  /// Finishes the hub with an error, as ``finish()`` does without one.
  ///
  /// ``failure`` of the hub and of its subscriptions is the error from then on, and sequences with
  /// ``EventSequence/throwingFailure()`` throw it after the last event, also those of later
  /// subscribers. If the hub has finished already, this does nothing: the first end counts.
  ///
  /// ```swift
  /// hub.finish(throwing: ConnectionLost())
  /// ```
  ///
  /// - Parameter error: why no more events follow. The hub, its subscriptions and its sequences
  ///   keep it.
  /// - Complexity: O(subscribers).
  public func finish(throwing error: any Error) {
    finish(error)
  }

  /// The error with which the hub has finished: that of ``finish(throwing:)``. `nil` while the hub
  /// is active, and after ``finish()``.
  ///
  /// - Complexity: O(1).
  public var failure: (any Error)? { state.failure }

  /// Finishes the hub, with an error unless it is `nil`.
  func finish(_ failure: (any Error)?) {
    // A new subscriber adds its entry and then reads the flag; this sets the flag and then reads
    // the entries, all sequentially consistent. One of the two sees the other.
    guard state.complete(failure) else { return }
    state.hubWillFinish()
    // One that begins to observe reads the flag afterwards; see `waitForSubscribers(atLeast:)`.
    state.current?.arrivals.finish()
    if let sequencer { sequencer.finish(self) } else { finishSubscribers() }
  }
}
