// `invoke(capturing:)` is for protocols that are known to be Sendable and not isolated. `deliver`
// is for those that inherit this, and for what composites inherit from protocols that are not
// Sendable: the overload that the compiler chooses depends on the delegates and the arguments.

extension DelegateCaller where Delegate: Sendable {
  /// Calls `body` with each delegate, in the delegate's own context.
  ///
  /// - Parameters:
  ///   - arguments: what `arguments(_:)` returned for that which `body` captures.
  ///   - body: called with each delegate.
  /// - Complexity: O(`count`).
  @inlinable @inline(__always)
  public func invoke<Arguments>(
    capturing arguments: SendableArguments<Arguments>,
    _ body: @escaping @Sendable (Delegate) -> Void
  ) {
    callInContext(body)
  }
}

extension DelegateCaller {
  /// Calls `body` with each delegate and `arguments`: on the calling thread if the caller belongs
  /// to an actor, which is then the actor of the delegates, and otherwise in the delegate's own
  /// context.
  ///
  /// - Parameters:
  ///   - arguments: what `arguments(_:)` returned.
  ///   - isolation: the actor that calls this function. Leave it out.
  ///   - body: called with each delegate and the arguments.
  /// - Precondition: `body` belongs to the actor of the caller, or to none.
  /// - Complexity: O(`count`).
  public func deliver<Arguments>(
    with arguments: SendableArguments<Arguments>,
    isolation: isolated (any Actor)? = #isolation,
    @_inheritActorContext _ body: @escaping @isolated(any) @Sendable (Delegate, Arguments) -> Void
  ) {
    requireOwnActor(body.isolation, isolation)
    let isIsolated = body.isolation != nil
    // SAFETY: a function with the same parameters and the same representation. It is called on its
    // actor, which is that of the caller, or anywhere if it has none.
    let function = unsafeBitCast(body, to: (@Sendable (Delegate, Arguments) -> Void).self)
    if isIsolated {
      answerEach { delegate in
        function(delegate, arguments.values)
        return true
      }
    } else {
      callInContext { function($0, arguments.values) }
    }
  }
}

/// Requires that a closure which is called now belongs to the actor of its caller.
func requireOwnActor(_ closure: (any Actor)?, _ caller: (any Actor)?) {
  require(
    closure == nil || closure === caller,
    "Multicast: deliver takes a closure that belongs to the actor of its caller")
}

extension DelegateCaller {
  /// Calls `body` with each delegate and `arguments`, on the calling thread: the delegates have no
  /// queue, or the arguments must not leave the thread.
  ///
  /// - Parameters:
  ///   - arguments: what `arguments(_:)` returned.
  ///   - body: called with each delegate and the arguments.
  /// - Complexity: O(`count`).
  @inlinable
  public func deliver<Arguments>(
    with arguments: LocalArguments<Arguments>, _ body: (Delegate, Arguments) -> Void
  ) {
    answerEach { delegate in
      body(delegate, arguments.values)
      return true
    }
  }
}

// Delegates that are actors.
extension MulticastDelegate where Delegate: Sendable {
  /// Awaits `body` with each delegate and `arguments`, on the actor that the delegate is.
  ///
  /// - Parameters:
  ///   - arguments: what `arguments(_:)` returned.
  ///   - home: the actor of a delegate: the delegate itself.
  ///   - body: called with each delegate and the arguments.
  /// - Complexity: O(`count`).
  public func invoke<Arguments>(
    with arguments: SendableArguments<Arguments>, onEach home: (Delegate) -> any Actor,
    _ body: @escaping @Sendable (Delegate, Arguments) async -> Void
  ) {
    invoke(onEach: home) { await body($0, arguments.values) }
  }
}
