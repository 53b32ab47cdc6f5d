/// A handle of one registration of a delegate: what `add` returns.
///
/// A registration does not end when its handle goes away; it ends with ``cancel()``, with `remove`
/// or `removeAll`, with the delegate if that is held weakly, when another registration takes its
/// place (see ``DuplicatePolicy``), or with the hub.
///
/// ```swift
/// let registration = hub.add(logger)
/// …
/// await registration.cancelAndWait()
/// logger.close()  // nobody is inside logger's methods, and nobody will be
/// ```
///
/// ## Thread safety
/// Every operation may be called from any thread, also from inside the callback itself. The handle
/// is `Sendable` where `Delegate` is: ending a registration can destroy the delegate on the calling
/// thread (and with portable weak references reading ``isActive`` can, too). A delegate that must not
/// leave its thread must not die on another one either.
public struct Registration<Delegate> {
  let handle: EntryHandle

  init(_ handle: EntryHandle) {
    self.handle = handle
  }
}

// The condition is the point: see "Thread safety". `handle` alone would be Sendable always.
extension Registration: Sendable where Delegate: Sendable {}

extension Registration {
  /// Whether the delegate can still be called: it was not removed, and it is alive.
  public var isActive: Bool { handle.isActive }

  /// What became of the calls for a delegate that is called on a queue; `nil` for one that is
  /// called by the sender.
  public var statistics: DeliveryStatistics? { handle.statistics }

  /// Ends the registration. Cancelling again does nothing. Calls that wait on the delegate's queue
  /// are discarded; see ``MulticastDelegate/flush()`` for how to let them run before.
  ///
  /// It never waits for a callback: one that had passed its check on another thread may still be
  /// running, and end later. See ``cancelAndWait()`` for the promise that none is.
  ///
  /// - Complexity: amortised O(1).
  public func cancel() { handle.cancel() }

  /// Ends the registration, and returns when its callback is not running and never will.
  ///
  /// It waits for this callback alone, not for others of the same invocation. Calls that wait on a
  /// queue are discarded: `flush` first if they are to run. Called from inside the callback itself,
  /// or from a filter or key of the subscription, it returns at once. The promise then starts when
  /// that call, and every call that other threads had begun before, has ended. (Two callbacks that
  /// waited for each other would never end.)
  ///
  /// Do not wait for the calling task inside the callback: that is a deadlock. Cancelling the task
  /// does not end the wait. In a serialized ``MulticastActor`` a structured child task of the callback
  /// counts as the callback; in one that is not serialized do not call this from such a child.
  public func cancelAndWait() async { await handle.cancelAndWait() }

  /// Ends the registration, and blocks the thread until its callback is not running and never will,
  /// or until `timeout` has passed.
  ///
  /// As for ``cancelAndWait()``. The registration has ended in either case.
  ///
  /// - Parameter timeout: how long to wait at the most. Zero or less: checks once without waiting.
  ///   More than 100 years: waits for as long as it takes.
  /// - Returns: whether the promise holds. From inside the callback itself: `true`, and the promise
  ///   starts later, as for ``cancelAndWait()``.
  @available(*, noasync, message: "use the async cancelAndWait() instead of blocking the thread")
  @discardableResult
  public func cancelAndWait(timeout: Duration) -> Bool { handle.cancelAndWait(timeout: timeout) }
}
