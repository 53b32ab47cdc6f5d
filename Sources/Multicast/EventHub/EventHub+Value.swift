extension EventHub {
  /// Creates a hub that has a value from the start: new subscribers first receive the newest event
  /// that was sent, or `initialValue` before that.
  ///
  /// ```swift
  /// let volume = EventHub(initialValue: 0.5)
  /// let subscription = volume.subscribe { level in slider.show(level) }   // called with 0.5
  /// volume.send(0.7)
  /// volume.value   // 0.7
  /// ```
  ///
  /// - Parameters:
  ///   - initialValue: the first event to replay.
  ///   - replay: the number of past events, the newest, that a new subscriber receives first.
  ///   - retention: which past events the hub keeps, as for a hub without an initial value. One
  ///     that limits sizes or ages, or has a condition, can remove the newest event, also the
  ///     initial value: then there is no value, and nothing to replay, until the next event.
  ///   - epoch: that of the hub's positions, as above.
  ///   - ordering: the order in which subscribers see the events of several senders. A hub with a
  ///     replay has one order with either.
  ///   - storage: how the hub stores its subscribers.
  ///   - name: identifies the hub in descriptions and messages.
  ///   - onFirstSubscriber: as for a hub without an initial value.
  ///   - onLastSubscriber: as above.
  ///   - onSubscriberChange: as above.
  /// - Precondition: `replay` is at least 1.
  /// - Complexity: O(1).
  @inlinable
  public convenience init(
    initialValue: Event, replay: Int = 1, retention: Retention<Event> = .none,
    epoch: UInt64? = nil, ordering: Ordering = .perSender,
    storage: StorageStrategy = .waitFree, name: String? = nil,
    onFirstSubscriber: (@Sendable () -> Void)? = nil,
    onLastSubscriber: (@Sendable () -> Void)? = nil,
    onSubscriberChange: (@Sendable (SubscriberChange) -> Void)? = nil
  ) {
    self.init(
      replay, initialValue, retention, epoch, ordering, storage, name, onFirstSubscriber,
      onLastSubscriber, onSubscriberChange, Self.delivery, PositionedEvent<Event>.call)
  }

  /// The newest event that the hub retains, or the initial value; `nil` if there is none, and in a
  /// hub that retains nothing.
  ///
  /// After a `send` has returned, this is its event or a newer one, also if subscribers have not
  /// received it yet, unless the ``Retention`` does not keep that: it is too large or too old, or
  /// a condition excludes it. It stays after ``finish()``, as long as it is retained.
  ///
  /// - Complexity: O(1). It takes the lock of the replay, as a subscriber does.
  public var value: Event? { sequencer?.newest }
}
