// The ways to call every delegate: `forEach`, on the calling thread, and `invoke`, in the context
// of each delegate.

extension MulticastDelegate {
  // The compiler prefers the `forEach` of `Sequence` to one that is generic over the error. Hence
  // two overloads: one that rethrows, and one with a label for typed throws.

  /// Calls `body` with each delegate, in registration order, on the calling thread, until it
  /// throws.
  ///
  /// Calls the delegates that are registered when the invocation begins, except those removed
  /// before it reaches them. A delegate that is added in the meantime is called from the next
  /// invocation on. A weak delegate is retained for exactly its call.
  ///
  /// It ends the process at a delegate that was added on a queue or an actor: use ``invoke(_:)``.
  /// On the main actor it may call those that were added `on: .main`.
  ///
  /// - Parameter body: called with each delegate. It may add, remove and invoke.
  /// - Throws: what `body` throws. The delegates after that one are not called.
  /// - Complexity: O(`count`), without an allocation; ``StorageStrategy/locked`` copies the list.
  @inlinable @inline(__always)
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
  ///   - body: called with each delegate. It may add, remove and invoke.
  /// - Throws: what `body` throws. The delegates after that one are not called.
  /// - Complexity: as for `forEach(_:)`.
  @inlinable @inline(__always)
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
  /// This is how to call a protocol that only some delegates conform to:
  /// ```swift
  /// hub.forEach(as: (any ProgressReporting).self) { $0.report(0.5) }
  /// ```
  /// A conformance that belongs to an actor is found on that actor only. As `forEach(_:)`, it ends
  /// the process at a delegate that was added on a queue or an actor, also if the cast would fail:
  /// use ``invoke(as:_:)``.
  ///
  /// - Parameters:
  ///   - as: the type to cast each delegate to. Delegates for which the cast fails are skipped.
  ///   - body: called with each of the others. It may add, remove and invoke.
  /// - Throws: what `body` throws. The delegates after that one are not called.
  /// - Complexity: O(`count`), with a dynamic cast for each delegate.
  @inlinable
  public func forEach<Other, E>(
    as _: Other.Type, _ body: (Other) throws(E) -> Void
  ) throws(E) {
    try registry.forEachValue(Delegate.self) { (delegate: Delegate) throws(E) -> Bool in
      if let other = cast(delegate, to: Other.self) { try body(other) }
      return true
    }
  }

  /// Calls `body` with each delegate in the delegate's own context, in registration order.
  ///
  /// A delegate that was added without a place is called on the calling thread, as by
  /// `forEach(_:)`. For one that was added on a queue or an actor, the call is enqueued. The calls
  /// of one delegate run one at a time, in the order of each sender, even on a concurrent queue. A
  /// call whose delegate is removed or deallocated before the call runs is discarded.
  ///
  /// A delegate that is added again during the invocation, with a place, may be left out.
  ///
  /// Calls are not ordered with other blocks of the queue: a block that you enqueue after this
  /// function has returned may run before the calls. ``flush()`` and ``flush(timeout:)`` wait for
  /// the calls.
  ///
  /// - Parameter body: called with each delegate, later for those on a queue or an actor. It is an
  ///   autoclosure, so that what a closure captures is allocated only where a delegate may be
  ///   called later. Therefore `await` and `try`, also those of a capture list, belong in a
  ///   statement before. It is evaluated once, when the invocation may have begun: a delegate that
  ///   the evaluation adds may be called or not, and one that it removes may be destroyed only
  ///   after the invocation.
  /// - Returns: the number of delegates that were called or for which the call was enqueued.
  /// - Complexity: O(`count`). With ``StorageStrategy/waitFree`` and the optimiser there is no
  ///   allocation, unless a delegate was added on a queue or an actor, or calls are measured.
  @_disfavoredOverload  // A protocol that belongs to an actor has an overload of its own.
  @inlinable @inline(__always) @discardableResult
  public func invoke(_ body: @autoclosure () -> @Sendable (Delegate) -> Void) -> Int {
    registry.deliver(body)
  }

  /// Calls `body` with each delegate that is also an `Other`, in the delegate's own context, as
  /// ``invoke(_:)`` does. A conformance that belongs to an actor is found on that actor only.
  ///
  /// - Parameters:
  ///   - as: the other protocol or type.
  ///   - body: called with each such delegate, later for those on a queue or an actor.
  /// - Returns: the number of delegates that were called or for which the call was enqueued. The
  ///   cast of a delegate with a place happens there, so such a delegate counts in any case.
  /// - Complexity: O(`count`), with a dynamic cast for each delegate.
  @inlinable @discardableResult
  public func invoke<Other>(
    as _: Other.Type, _ body: @escaping @Sendable (Other) -> Void
  ) -> Int {
    registry.deliver(
      here: { (delegate: Delegate) in
        guard let other = cast(delegate, to: Other.self) else { return false }
        body(other)
        return true
      },
      later: { delegate in
        if let other = cast(delegate, to: Other.self) { body(other) }
      })
  }
}

/// `delegate` as an `Other`, if it is one where the caller is.
@inlinable
func cast<Delegate, Other>(_ delegate: Delegate, to _: Other.Type) -> Other? {
  // A cast to a class needs no conformance, and the compiler's is up to eight times as fast.
  guard Other.self is AnyObject.Type else { return castByRuntime(delegate, to: Other.self) }
  return delegate as? Other
}

/// Not specialised: if the compiler of Swift 6.3 knows the types, a cast from an existential of
/// classes to a protocol finds a conformance that belongs to an actor everywhere. The cast of the
/// runtime finds it on that actor only.
@usableFromInline @inline(never) @_semantics("optimize.sil.specialize.generic.never")
func castByRuntime<Delegate, Other>(_ delegate: Delegate, to _: Other.Type) -> Other? {
  delegate as? Other
}
