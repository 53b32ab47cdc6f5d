extension MulticastDelegate {
  /// What `body` returns or throws for each delegate, in registration order.
  ///
  /// One failure does not stop the rest. As for the rest, see `forEach(_:)`.
  ///
  /// - Complexity: O(`count`).
  @inlinable
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

  /// The first answer that is not `nil`. Delegates behind the one that gives it are not asked.
  ///
  /// - Returns: the answer, or `nil` if no delegate has one.
  /// - Complexity: O(`count`).
  @inlinable
  public func firstResult<T, E>(_ body: (Delegate) throws(E) -> T?) throws(E) -> T? {
    var answer: T?
    try registry.forEachValue(Delegate.self) { (delegate: Delegate) throws(E) -> Bool in
      answer = try body(delegate)
      return answer == nil
    }
    return answer
  }

  /// The last answer that is not `nil`. Every delegate is asked, in registration order.
  ///
  /// - Returns: the answer, or `nil` if no delegate has one.
  /// - Complexity: O(`count`).
  @inlinable
  public func lastResult<T, E>(_ body: (Delegate) throws(E) -> T?) throws(E) -> T? {
    var last: T?
    try registry.forEachValue(Delegate.self) { (delegate: Delegate) throws(E) -> Bool in
      last = try body(delegate) ?? last
      return true
    }
    return last
  }
}
