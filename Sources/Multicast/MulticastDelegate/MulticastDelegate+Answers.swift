extension MulticastDelegate {
  /// Calls `body` with each delegate, as `forEach(_:)` does, and returns what it returns or throws
  /// for each, in registration order.
  ///
  /// An error for one delegate does not stop the others.
  ///
  /// - Parameter body: called with each delegate. It may add, remove and invoke.
  /// - Returns: the results, in registration order.
  /// - Complexity: O(`count`).
  @inlinable @inline(__always)
  public func results<T, E>(_ body: (Delegate) throws(E) -> T) -> [Result<T, E>] {
    var results: [Result<T, E>] = []
    forEach { delegate in
      do throws(E) {
        results.append(.success(try body(delegate)))
      } catch {
        results.append(.failure(error))
      }
    }
    return results
  }

  /// Calls `body` with each delegate, in registration order, until it returns a value that is not
  /// `nil`. The value may be of a type that cannot be copied.
  ///
  /// - Parameter body: called with each delegate. It may add, remove and invoke.
  /// - Returns: that value, or `nil` if there is none.
  /// - Throws: what `body` throws. The delegates after that one are not called.
  /// - Complexity: O(`count`).
  @inlinable
  public func firstResult<T: ~Copyable, E>(
    _ body: (Delegate) throws(E) -> T?
  ) throws(E) -> T? {
    var answer: T?
    try registry.forEachValue(Delegate.self) { (delegate: Delegate) throws(E) -> Bool in
      answer = try body(delegate)
      return answer == nil
    }
    return answer
  }

  /// Calls `body` with every delegate, in registration order, and returns its last value that is
  /// not `nil`. The value may be of a type that cannot be copied; the earlier ones are destroyed.
  ///
  /// - Parameter body: called with each delegate. It may add, remove and invoke.
  /// - Returns: that value, or `nil` if there is none.
  /// - Throws: what `body` throws. The delegates after that one are not called.
  /// - Complexity: O(`count`).
  @inlinable
  public func lastResult<T: ~Copyable, E>(
    _ body: (Delegate) throws(E) -> T?
  ) throws(E) -> T? {
    var last: T?
    try registry.forEachValue(Delegate.self) { (delegate: Delegate) throws(E) -> Bool in
      if let result = try body(delegate) { last = consume result }
      return true
    }
    return last
  }
}

extension MulticastDelegate {
  /// Calls `body` with each delegate, in registration order, until it returns `false` or throws.
  ///
  /// For the policies of composites (`MulticastMacros`).
  @inlinable @inline(__always)
  package func callWhile<E>(_ body: (Delegate) throws(E) -> Bool) throws(E) {
    try registry.forEachValue(Delegate.self, body)
  }
}
