extension EventHub {
  /// Returns when every event that was sent before has been handled by every subscriber, or
  /// discarded.
  ///
  /// An event was sent before if its `send` has returned, or if its sender waits for space. A
  /// handler has handled an event when it has returned. An asynchronous sequence has handled an
  /// event when its consumer asks for the next one, or stops: so a sequence that nothing iterates,
  /// and a consumer that does not ask again, delay the return until they are released, or their
  /// subscriptions are cancelled. In the body of a `for await` loop over this hub, and wherever
  /// else the task is the one that received the latest event of a sequence, this does not wait for
  /// that sequence.
  ///
  /// ```swift
  /// hub.send(event)
  /// await hub.flush()
  /// #expect(view.text == "…")   // the handler on the view's queue has returned
  /// ```
  ///
  /// Events are discarded if their subscription is cancelled or its owner is gone; a handler that
  /// is running while its subscription is cancelled is not waited for: `cancelAndWait` does that.
  /// Cancelling the task does not end the wait: cancel the subscriptions that it waits for, such as
  /// by ``cancelSubscriptions()``. Deadlock: do not wait for the calling task inside a handler.
  ///
  /// - Complexity: O(subscribers), and the wait.
  public func flush() async {
    await HubFlush(targets: [.init(self)], lastCallsOf: registry).wait()
  }

  /// Blocks the thread until every event that was sent before has been handled by every subscriber,
  /// or discarded, or until `timeout` has passed. See ``flush()``.
  ///
  /// Inside a handler, this waits neither for that handler nor for the events that this thread is
  /// delivering, which cannot proceed before the handler returns. Nor does it wait for handlers
  /// that are blocked in a flush of this hub or another, because they may wait for this one. It
  /// does wait for other handlers on the same serial queue; they cannot be called either, so it
  /// times out.
  ///
  /// - Parameter timeout: how long to wait at most. Zero or less: checks once without waiting. More
  ///   than 100 years: waits without a limit.
  /// - Returns: whether every event has been handled or discarded.
  /// - Complexity: O(subscribers), and the wait.
  @available(*, noasync, message: "use the async flush() instead of blocking the thread")
  @discardableResult
  public func flush(timeout: Duration) -> Bool {
    HubFlush(targets: [.init(self)], lastCallsOf: registry)
      .wait(timeout: timeout, serve: serveHandlers)
  }
}
