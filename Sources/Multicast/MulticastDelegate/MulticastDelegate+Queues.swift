public import Dispatch

// Only `Sendable` delegates can be called on a queue, because another thread makes the call.
extension MulticastDelegate where Delegate: Sendable {
  /// Adds `delegate` after the others; ``invoke(_:)`` calls it on `queue`.
  ///
  /// The calls of this delegate run one at a time, in the order of each sender, even if the queue
  /// is concurrent. One block on the queue runs a burst of calls; after 64 calls it moves to the
  /// end of the queue. The registration and its handles keep the queue.
  ///
  /// The functions that call on the calling thread (`forEach(_:)`, ``results(_:)``, `for in` and so
  /// on) end the process at such a delegate, because they would call it on the wrong thread.
  ///
  /// - Parameters:
  ///   - delegate: the delegate to call.
  ///   - ownership: whether the hub keeps it alive. A weak delegate is retained for each call only;
  ///     calls that wait do not keep it alive.
  ///   - queue: the queue to call it on: serial, concurrent, global or main.
  ///   - buffering: how many calls may wait, and what happens to further ones.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  /// - Returns: a handle that can end the registration and has ``Registration/statistics``. For a
  ///   delegate that is already registered, see ``DuplicatePolicy``.
  /// - Precondition: as for ``add(_:ownership:label:fileID:line:)``; a limit of `buffering` is at
  ///   least 1.
  /// - Complexity: as for ``add(_:ownership:label:fileID:line:)``.
  @_disfavoredOverload
  @discardableResult
  public func add(
    _ delegate: Delegate, ownership: Ownership = .weak, on queue: DispatchQueue,
    buffering: QueueBuffering = .unbounded, label: String? = nil, fileID: StaticString = #fileID,
    line: UInt = #line
  ) -> Registration<Delegate> {
    let (limit, whenFull) = buffering.limit
    // Weak, because the registry keeps the entry, which keeps the mailbox.
    let mailbox = QueueMailbox(
      on: queue, limit: limit, whenFull: whenFull, drops: registry.callDrops(of: buffering),
      whenExhausted: { [weak registry] entry in registry?.remove(entry) })
    return Registration(
      registry.add(
        delegate, ownership: ownership, mailbox: mailbox, origin: Origin(fileID, line, label)))
  }

  /// Returns when every call that was enqueued before has run or was discarded.
  ///
  /// Calls whose delegate is removed or deallocated are discarded; one that runs then is not waited
  /// for. Cancelling the task does not end the wait. Deadlock: do not wait for the calling task
  /// inside a callback.
  ///
  /// - Complexity: O(`count`), and the wait.
  public func flush() async {
    await registry.flush(and: isolatedCalls.entries)
  }

  /// Blocks the thread until every call that was enqueued before has run or was discarded, or until
  /// `timeout` has passed.
  ///
  /// Inside a callback on a queue, this does not wait for the delegate that is being called, whose
  /// next call cannot run before this returns. Nor does it wait for delegates whose callbacks are
  /// blocked in a flush of this hub or another, because they may wait for this one. It does wait
  /// for other delegates on the same serial queue; their calls cannot run either, so it times out.
  /// It does not wait for a call that runs when its delegate is removed or deallocated.
  ///
  /// - Parameter timeout: how long to wait at most. Zero or less: checks once without waiting. More
  ///   than 100 years: waits without a limit.
  /// - Returns: whether every call has run or was discarded.
  /// - Complexity: O(`count`), and the wait.
  @available(*, noasync, message: "use the async flush() instead of blocking the thread")
  @discardableResult
  public func flush(timeout: Duration) -> Bool {
    registry.flush(and: isolatedCalls.entries, timeout: timeout)
  }
}
