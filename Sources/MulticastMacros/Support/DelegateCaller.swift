/// The delegates that a composite calls: those of a hub, or those of a hub as instances of a
/// protocol that theirs refines.
///
/// The extensions are the policies of ``AnswerPolicy``. Expanded code calls them.
///
/// ## Thread safety
/// As ``MulticastDelegate``.
public protocol DelegateCaller<Delegate>: Sequence where Element == Delegate {
  /// The type of the delegates.
  associatedtype Delegate

  /// Calls `body` with each delegate, in registration order, on the calling thread, until it
  /// returns `false` or throws.
  ///
  /// - Parameter body: called with each delegate; `false` ends the calls.
  /// - Throws: what `body` throws, which ends the calls.
  /// - Complexity: O(`count`).
  func answerEach<E>(_ body: (Delegate) throws(E) -> Bool) throws(E)

  /// Calls `body` with each delegate in the delegate's own context, as
  /// ``MulticastDelegate/invoke(_:)`` does.
  ///
  /// - Parameter body: called with each delegate, later for those on a queue or an actor.
  /// - Complexity: O(`count`).
  func callInContext(_ body: @autoclosure () -> @Sendable (Delegate) -> Void)

  /// A function for each delegate, which returns the delegate if that may be called then.
  ///
  /// - Returns: the functions, in registration order. They keep no weak delegate alive.
  /// - Complexity: O(`count`).
  func laterDelegates() -> [@Sendable () -> Delegate?]
}

extension DelegateCaller {
  /// A function for each delegate, which returns it, and keeps it alive.
  ///
  /// - Returns: the functions, in registration order.
  /// - Complexity: O(`count`).
  public func laterDelegates() -> [@Sendable () -> Delegate?] {
    map { delegate in
      // SAFETY: another thread calls the function only where the delegates are Sendable.
      nonisolated(unsafe) let delegate = delegate
      return { delegate }
    }
  }
}

extension MulticastDelegate: DelegateCaller {
  /// Calls `body` with each delegate until it returns `false` or throws.
  ///
  /// - Parameter body: called with each delegate; `false` ends the calls.
  /// - Throws: what `body` throws, which ends the calls.
  /// - Complexity: O(`count`).
  @inlinable @inline(__always)
  public func answerEach<E>(_ body: (Delegate) throws(E) -> Bool) throws(E) {
    try callWhile(body)
  }

  /// Calls `body` with each delegate in the delegate's own context.
  ///
  /// - Parameter body: called with each delegate, later for those on a queue or an actor.
  /// - Complexity: O(`count`).
  @inlinable @inline(__always)
  public func callInContext(_ body: @autoclosure () -> @Sendable (Delegate) -> Void) {
    invoke(body())
  }

  /// The delegates, for calls that suspend: without those that are blocked, dead or removed when
  /// the loop reaches them.
  ///
  /// - Returns: a sequence to iterate over once.
  /// - Complexity: as for ``MulticastDelegate/makeIterator()``.
  public func callees() -> IteratorSequence<Iterator> { IteratorSequence(makeCallIterator()) }

  /// A function for each delegate, which returns the delegate if that may be called then.
  ///
  /// - Returns: the functions, in registration order. They keep no weak delegate alive.
  /// - Complexity: O(`count`).
  public func laterDelegates() -> [@Sendable () -> Delegate?] { laterCallees() }

  /// Calls `body` with each delegate, as `forEach(_:)` does; always inlined, because a composite
  /// has one such call in a function.
  ///
  /// - Parameter body: called with each delegate, on the calling thread.
  /// - Complexity: O(`count`).
  @inlinable @inline(__always)
  public func callEach(_ body: (Delegate) -> Void) {
    callWhile { delegate in
      body(delegate)
      return true
    }
  }
}
