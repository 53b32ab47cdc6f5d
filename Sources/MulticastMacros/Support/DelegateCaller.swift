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

  /// A handle for each delegate, for a call that another task makes later.
  ///
  /// - Returns: the handles, in registration order. They keep no weak delegate alive.
  /// - Complexity: O(`count`).
  func laterDelegates() -> [LaterDelegate<Delegate>]
}

/// A handle of a delegate, which returns it later if it may be called then.
///
/// ## Thread safety
/// Any thread may ask for the delegate, and be the last that keeps a handle, but only if the
/// delegates are `Sendable`.
public struct LaterDelegate<Delegate> {
  /// The actor on which to call the delegate, if there is one.
  let home: (any Actor)?
  private let delegate: @Sendable () -> Delegate?

  init(home: (any Actor)?, _ delegate: @escaping @Sendable () -> Delegate?) {
    self.home = home
    self.delegate = delegate
  }

  /// The delegate, unless it is gone or may not be called now.
  ///
  /// - Returns: the delegate.
  /// - Complexity: O(1).
  public func callAsFunction() -> Delegate? where Delegate: Sendable { delegate() }

  /// The same as an instance of another protocol.
  func map<Refined>(_ refine: @escaping @Sendable (Delegate) -> Refined?) -> LaterDelegate<Refined>
  {
    LaterDelegate<Refined>(home: home) { [delegate] in delegate().flatMap(refine) }
  }
}

// Conditional on purpose: the last handle may be the last owner of the delegate.
extension LaterDelegate: Sendable where Delegate: Sendable {}

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

  /// A handle for each delegate, for a call that another task makes later.
  ///
  /// - Returns: the handles, in registration order. They keep no weak delegate alive.
  /// - Complexity: O(`count`).
  public func laterDelegates() -> [LaterDelegate<Delegate>] {
    laterCallees().map { LaterDelegate(home: $0.home, $0.callee) }
  }

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
