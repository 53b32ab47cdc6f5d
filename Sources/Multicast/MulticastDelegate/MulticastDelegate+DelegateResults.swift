extension MulticastDelegate {
  /// Calls `body` with each delegate, as ``results(_:)`` does, and returns each delegate with what
  /// `body` returns or throws for it, in registration order.
  ///
  /// ```swift
  /// for (delegate, result) in delegates.resultsByDelegate({ $0.didFinish("a.txt") }) {
  ///   print(delegate, result)
  /// }
  /// ```
  ///
  /// The array keeps the delegates alive.
  ///
  /// - Parameter body: called with each delegate. It may add, remove and invoke.
  /// - Returns: the delegates with their results, in registration order.
  /// - Complexity: O(`count`).
  @inlinable
  public func resultsByDelegate<T, E>(
    _ body: (Delegate) throws(E) -> T
  ) -> [(delegate: Delegate, result: Result<T, E>)] {
    var results: [(delegate: Delegate, result: Result<T, E>)] = []
    forEach { delegate in
      do throws(E) {
        results.append((delegate, .success(try body(delegate))))
      } catch {
        results.append((delegate, .failure(error)))
      }
    }
    return results
  }
}
