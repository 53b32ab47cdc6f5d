/// A handle of one registration of a delegate, as `add` returns it.
///
/// Destroying the handle does not end the registration. It ends with ``cancel()``, `remove` or
/// `removeAll`, with the delegate if that is held weakly, with the hub, or when another
/// registration replaces it (see ``DuplicatePolicy``).
///
/// ```swift
/// let registration = hub.add(logger)
/// …
/// await registration.cancelAndWait()
/// logger.close()  // no method of logger is running, or will be called
/// ```
///
/// ## Thread safety
/// Every operation may be called from any thread, also from inside the callback itself. The handle
/// is `Sendable` where `Delegate` is: ending a registration can destroy the delegate on the calling
/// thread (with portable weak references, reading ``isActive`` can too), and a delegate that must
/// not leave its thread must not be destroyed on another one.
public struct Registration<Delegate>: Unreflected {
  let handle: EntryHandle

  init(_ handle: EntryHandle) {
    self.handle = handle
  }
}

// Conditional on purpose: see "Thread safety". `handle` alone is always Sendable.
extension Registration: Sendable where Delegate: Sendable {}

extension Registration {
  /// Whether the delegate can still be called: it was not removed, and it is alive.
  ///
  /// - Complexity: O(1).
  public var isActive: Bool { handle.isActive }

  /// The counts of calls to a delegate that is called on a queue or an actor; `nil` for one that
  /// the sender calls.
  ///
  /// - Complexity: O(1).
  public var statistics: DeliveryStatistics? { handle.statistics }

  /// Ends the registration. Cancelling again does nothing. Calls that wait for the delegate's queue
  /// or actor are discarded; call ``MulticastDelegate/flush()`` first if they are to run.
  ///
  /// It never waits for a callback: one that another thread has begun may still be running. See
  /// ``cancelAndWait()``.
  ///
  /// - Complexity: amortised O(1).
  public func cancel() { handle.cancel() }

  /// Ends the registration, and returns when its callback is not running and never will.
  ///
  /// It waits only for this callback, not for others of the same invocation, nor for a running call
  /// of a registration that this one has replaced (see ``DuplicatePolicy``). Calls that wait on a
  /// queue are discarded: `flush` first if they are to run. Inside the callback itself, or a filter
  /// or key of the subscription, it returns at once, since two callbacks that wait for each other
  /// would never end. The promise then holds once that call, and every call that other threads had
  /// begun before, has ended.
  ///
  /// Do not wait for the calling task inside the callback: that is a deadlock. Cancelling the task
  /// does not end the wait. In a serialized ``MulticastActor`` a structured child task of the
  /// callback counts as the callback; in one that is not serialized do not call this from such a
  /// child.
  ///
  /// - Complexity: amortised O(1), and the wait, which polls in O(threads that have
  ///   called back), and, of a ``MulticastActor``, O(calls of the hub that ever ran at once).
  public func cancelAndWait() async { await handle.cancelAndWait() }

  /// Ends the registration, and blocks the thread until its callback is not running and never will,
  /// or until `timeout` has passed.
  ///
  /// As for ``cancelAndWait()``. The registration has ended in either case.
  ///
  /// - Parameter timeout: the longest time to wait. Zero or less: checks once without waiting. More
  ///   than 100 years: no limit.
  /// - Returns: whether the promise holds. Inside the callback itself: `true`, and the promise
  ///   holds later, as for ``cancelAndWait()``.
  /// - Complexity: amortised O(1), and the wait, which polls in O(threads that have
  ///   called back), and, of a ``MulticastActor``, O(calls of the hub that ever ran at once).
  @available(*, noasync, message: "use the async cancelAndWait() instead of blocking the thread")
  @discardableResult
  public func cancelAndWait(timeout: Duration) -> Bool { handle.cancelAndWait(timeout: timeout) }
}

extension Registration: CustomStringConvertible {
  /// The type of the delegates, and whether the registration is active.
  ///
  /// - Complexity: O(1).
  public var description: String { "Registration<\(Delegate.self)>(isActive: \(isActive))" }
}
