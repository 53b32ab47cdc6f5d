extension TopicHub {
  /// Whether the hub is blocked.
  ///
  /// - Complexity: O(1).
  public var isBlocked: Bool { gate.isBlocked }

  /// Blocks the whole hub until ``unblock()``: an event that is sent in the meantime reaches no
  /// subscriber, and is not retained. Blocks nest: each needs its ``unblock()``.
  ///
  /// `send` returns 0 then, `sendWaiting` and `trySend` return `true`, and the event does not count
  /// as refused. An event that was sent before is still delivered. To hold back events for one
  /// subscriber, see ``EventSubscription/block()``.
  ///
  /// - Complexity: O(1).
  public func block() { gate.block() }

  /// Removes a block. After the last one the hub accepts events again, unless it has finished.
  ///
  /// - Precondition: ``block()`` was called once more than this.
  /// - Complexity: O(1).
  public func unblock() {
    gate.unblock()
    guard let log = retention?.log, log.isExternal else { return }
    // What an external log has delivered in the meantime is a range to report. The lock of the log
    // orders this with a delivery that has found the block: either its range is there before the
    // signals, or it finds afterwards that the block has ended, and signals itself.
    _ = log.newest
    signals.signalAll()
  }

  /// Runs `body` while the hub is blocked, and returns its result or throws its error.
  ///
  /// Events of other threads are skipped too.
  ///
  /// - Parameter body: what to run meanwhile.
  /// - Returns: what `body` returns.
  /// - Throws: what `body` throws.
  /// - Complexity: O(1), and `body`.
  public func withBlocked<R: ~Copyable, E>(_ body: () throws(E) -> R) throws(E) -> R {
    block()
    defer { unblock() }
    return try body()
  }

  /// Runs `body` while the hub is blocked, also while it is suspended, and returns its result or
  /// throws its error.
  ///
  /// - Parameter body: what to run meanwhile.
  /// - Returns: what `body` returns.
  /// - Throws: what `body` throws.
  /// - Complexity: O(1), and `body`.
  @_disfavoredOverload
  nonisolated(nonsending) public func withBlocked<R: ~Copyable, E>(
    _ body: nonisolated(nonsending) () async throws(E) -> R
  ) async throws(E) -> R {
    block()
    defer { unblock() }
    return try await body()
  }
}
