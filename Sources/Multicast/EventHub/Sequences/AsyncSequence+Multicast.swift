extension AsyncSequence where Self: Sendable, Element: Sendable {
  /// A hub whose events are the elements of this sequence, which is iterated once for all
  /// subscribers.
  ///
  /// ```swift
  /// let prices = feed.multicast(replay: 1)
  /// for await price in prices.events() { show(price) }
  /// ```
  ///
  /// The iteration begins with the first subscriber, in a task of its own, and the task is
  /// cancelled when the last one has gone, or when the hub finishes or is released. When the
  /// sequence ends, the hub finishes; when the sequence throws, with that error: see
  /// ``EventHub/finish(throwing:)``.
  ///
  /// **Restart:** when there is a first subscriber again, a new iteration begins with a new
  /// iterator, after the cancelled one has ended: two never overlap. A sequence that computes its
  /// elements starts over; one that has a single consumer goes on, or, like `AsyncStream`, has
  /// ended with the cancelled task, and so finishes the hub. To avoid that, keep a subscription. An
  /// element that the cancelled iteration already has may still reach the new subscriber, before
  /// those of the new iteration.
  ///
  /// The task sends with ``EventHub/sendWaiting(_:)``: a full buffer with the policy `.suspend`
  /// makes the sequence wait, and no other subscriber. While it waits there, the task keeps the
  /// hub.
  ///
  /// - Parameters:
  ///   - replay: the number of past elements, the newest, that a new subscriber receives first.
  ///   - storage: how the hub stores its subscribers.
  ///   - name: identifies the hub in descriptions and messages.
  /// - Returns: the hub, which finishes with the sequence.
  /// - Precondition: `replay` is not negative.
  /// - Complexity: O(1). What an element costs, ``EventHub/sendWaiting(_:)`` says.
  public func multicast(
    replay: Int = 0, storage: StorageStrategy = .waitFree, name: String? = nil
  ) -> EventHub<Element> {
    require(replay >= 0, "Multicast: replay must not be negative, but is \(replay).")
    let source = SequenceSource(self)
    // Weak: subscriptions, which may outlive the hub, keep the hooks. The source is kept until the
    // hub has finished.
    let state = DetailedState(
      name,
      hooks: SubscriberHooks(
        first: { [weak source] in source?.start() }, last: { [weak source] in source?.pause() }),
      source: source)
    let hub = EventHub<Element>(
      replay: replay, ordering: .perSender, storage: storage, state: state)
    source.connect(hub)
    return hub
  }
}
