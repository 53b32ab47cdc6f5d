/// The delegates that a composite calls: those of a hub, or those of a hub as instances of a protocol that
/// theirs refines.
///
/// The extensions are the policies of ``AnswerPolicy``. Expanded code calls them.
///
/// ## Thread safety
/// As ``MulticastDelegate``.
public protocol DelegateCaller<Delegate>: Sequence where Element == Delegate {
  associatedtype Delegate

  /// Calls `body` with each delegate, in registration order, on the calling thread, until it returns
  /// `false` or throws.
  ///
  /// - Complexity: O(`count`).
  func answerEach<E>(_ body: (Delegate) throws(E) -> Bool) throws(E)

  /// Calls `body` with each delegate in the delegate's own context, as
  /// ``MulticastDelegate/invoke(_:)`` does.
  ///
  /// - Complexity: O(`count`).
  func callInContext(_ body: @escaping @Sendable (Delegate) -> Void)
}

extension MulticastDelegate: DelegateCaller {
  @inlinable @inline(__always)
  public func answerEach<E>(_ body: (Delegate) throws(E) -> Bool) throws(E) {
    try callWhile(body)
  }

  @inlinable
  public func callInContext(_ body: @escaping @Sendable (Delegate) -> Void) {
    invoke(body)
  }

  /// Calls `body` with each delegate, as `forEach(_:)` does; always inlined, because a composite has one such
  /// call in a function.
  ///
  /// - Complexity: O(`count`).
  @inlinable @inline(__always)
  public func callEach(_ body: (Delegate) -> Void) {
    callWhile { delegate in
      body(delegate)
      return true
    }
  }
}
