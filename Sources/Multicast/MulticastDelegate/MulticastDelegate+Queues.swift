public import Dispatch

// Only delegates that are Sendable can be called on a queue: the call happens on another thread.
extension MulticastDelegate where Delegate: Sendable {
  /// Adds `delegate` behind the others, to be called on `queue` by ``invoke(_:)``.
  ///
  /// The calls for this delegate run one after the other and in the order of each sender, even if
  /// the queue is concurrent. A burst of calls occupies the queue with one block, and not with one
  /// for each call; after 64 calls the block goes to the end of the queue. The registration keeps
  /// the queue as long as it lasts, and so does a handle of it as long as that is kept.
  ///
  /// A delegate of the main actor goes like this:
  /// ```swift
  /// @MainActor final class StatusView: DownloadDelegate {
  ///   nonisolated func didFinish(_ file: String) {
  ///     MainActor.assumeIsolated { show(file) }
  ///   }
  /// }
  /// hub.add(view, on: .main)
  /// ```
  /// The ways of calling on the caller's thread (`forEach(_:)`, ``results(_:)`` and so on) take
  /// no notice of the queue.
  ///
  /// - Parameters:
  ///   - delegate: what to call.
  ///   - ownership: whether to keep it alive. A weak one is retained for exactly each call; calls
  ///     that wait do not keep it alive.
  ///   - queue: where to call it: serial, concurrent, global or main.
  ///   - buffering: how many calls may wait.
  /// - Returns: a handle to end the registration, with ``Registration/statistics``. If the delegate
  ///   is registered already, see ``DuplicatePolicy``.
  /// - Precondition: as for ``add(_:ownership:)``; a limit of `buffering` is at least 1.
  /// - Complexity: as for ``add(_:ownership:)``.
  @discardableResult
  public func add(
    _ delegate: Delegate, ownership: Ownership = .weak, on queue: DispatchQueue,
    buffering: QueueBuffering = .unbounded
  ) -> Registration<Delegate> {
    let (limit, whenFull) = buffering.limit
    // Weakly: the registry keeps the entry, and the entry its mailbox.
    let mailbox = QueueMailbox(
      on: queue, limit: limit, whenFull: whenFull,
      whenExhausted: { [weak registry] entry in registry?.remove(entry) },
      deliver: { head, envelope in envelope.call(head) })
    return Registration(registry.add(delegate, ownership: ownership, mailbox: mailbox))
  }

  /// Returns when every call that was enqueued before has run, or was discarded because its
  /// delegate was removed or has died.
  ///
  /// A callback that waits for the task that called this, by whatever means, waits for ever.
  /// Cancelling the task does not end the wait.
  public func flush() async {
    await registry.flush()
  }

  /// Blocks the thread until every call that was enqueued before has run, or was discarded because
  /// its delegate was removed or has died, or until `timeout` has passed.
  ///
  /// Called from inside a callback on a queue, it does not wait for the delegate that is being
  /// called: that one cannot go on before this returns. Nor does it wait for delegates whose own
  /// callbacks block in a flush, of this hub or another: they might wait for this one. It does wait
  /// for other delegates on the same serial queue, which cannot go on either: then the time runs
  /// out.
  ///
  /// - Parameter timeout: how long to wait at the most. If it is zero or less, this only checks. If
  ///   it is more than 100 years, it waits for as long as it takes.
  /// - Returns: whether everything has run or was discarded.
  @available(*, noasync, message: "use the async flush() instead of blocking the thread")
  @discardableResult
  public func flush(timeout: Duration) -> Bool {
    registry.flush(timeout: timeout)
  }
}
