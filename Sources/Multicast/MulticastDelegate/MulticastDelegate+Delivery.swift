extension MulticastDelegate {
  // `Sequence` has a `forEach` of its own, which the compiler prefers to one that is generic over
  // the error; hence one overload that rethrows, and one with a label for typed throws.

  /// Calls `body` with each delegate, in registration order, on the calling thread, until it throws.
  ///
  /// The delegates are those that are registered at the beginning, less those that are removed
  /// before their turn. One that is added meanwhile waits for the next invocation. A weak delegate
  /// is retained for exactly its call.
  ///
  /// - Parameter body: what to do with a delegate. It may add, remove and invoke.
  /// - Throws: what `body` throws. The delegates behind are not called then.
  /// - Complexity: O(`count`), without an allocation; ``StorageStrategy/locked`` copies the list.
  @inlinable
  public func forEach(_ body: (Delegate) throws -> Void) rethrows {
    try registry.forEachValue(Delegate.self) { (delegate: Delegate) throws -> Bool in
      try body(delegate)
      return true
    }
  }

  /// Calls `body` with each delegate until it throws an error of type `E`.
  ///
  /// ```swift
  /// try hub.forEach(throwing: Veto.self) { delegate throws(Veto) in try delegate.willClose() }
  /// ```
  ///
  /// - Parameters:
  ///   - throwing: the type of the error.
  ///   - body: what to do with a delegate. It may add, remove and invoke.
  /// - Throws: what `body` throws. The delegates behind are not called then.
  /// - Complexity: as for the one without a label.
  @inlinable
  public func forEach<E>(
    throwing _: E.Type, _ body: (Delegate) throws(E) -> Void
  ) throws(E) {
    try registry.forEachValue(Delegate.self) { (delegate: Delegate) throws(E) -> Bool in
      try body(delegate)
      return true
    }
  }

  /// Calls `body` with each delegate that is also an `Other`, on the calling thread.
  ///
  /// The way to reach an optional protocol:
  /// ```swift
  /// hub.forEach(as: (any ProgressReporting).self) { $0.report(0.5) }
  /// ```
  ///
  /// - Parameters:
  ///   - as: the type that a delegate must have beside its own.
  ///   - body: what to do with such a delegate. It may add, remove and invoke.
  /// - Throws: what `body` throws. The delegates behind are not called then.
  /// - Complexity: O(`count`), with a dynamic cast for each.
  @inlinable
  public func forEach<Other, E>(
    as _: Other.Type, _ body: (Other) throws(E) -> Void
  ) throws(E) {
    try registry.forEachValue(Delegate.self) { (delegate: Delegate) throws(E) -> Bool in
      if let other = delegate as? Other { try body(other) }
      return true
    }
  }

  /// Calls `body` with each delegate in the delegate's own context, in registration order.
  ///
  /// A call on a queue has no order with other blocks of that queue: a block that you put there
  /// after this has returned may run before the call. ``flush()`` and ``flush(timeout:)`` wait for
  /// the calls.
  ///
  /// A delegate that was added without a queue is called on the calling thread, as by
  /// `forEach(_:)`. For one that was added with a queue the call is enqueued: the calls for one
  /// delegate run one after the other, those of one sender in its order, even on a concurrent
  /// queue. If the delegate was removed or has died when its turn comes, it is not called.
  ///
  /// - Returns: how many delegates were called or have the call enqueued.
  /// - Complexity: O(`count`).
  @inlinable @discardableResult
  public func invoke(_ body: @escaping @Sendable (Delegate) -> Void) -> Int {
    registry.deliver(
      here: { (delegate: Delegate) in
        body(delegate)
        return true
      }, later: body)
  }

  /// Calls `body` with each delegate that is also an `Other`, as ``invoke(_:)``.
  ///
  /// - Returns: how many were called, or have a queue and will be asked there whether they are an
  ///   `Other`.
  @inlinable @discardableResult
  public func invoke<Other>(
    as _: Other.Type, _ body: @escaping @Sendable (Other) -> Void
  ) -> Int {
    registry.deliver(
      here: { (delegate: Delegate) in
        guard let other = delegate as? Other else { return false }
        body(other)
        return true
      },
      later: { delegate in
        if let other = delegate as? Other { body(other) }
      })
  }
}
