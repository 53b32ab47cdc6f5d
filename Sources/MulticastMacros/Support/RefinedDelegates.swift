/// The delegates of a hub as instances of a protocol that their own protocol refines.
///
/// ## Thread safety
/// As ``MulticastDelegate``.
public struct RefinedDelegates<Composite: MulticastComposite, Delegate> {
  /// The protocol of the delegates of the hub.
  public typealias Original = Composite.Delegate

  @usableFromInline let hub: MulticastDelegate<Original>

  @inlinable @inline(__always)
  init(_ hub: MulticastDelegate<Original>) {
    self.hub = hub
  }
}

extension RefinedDelegates: DelegateCaller {
  /// Calls `body` with each delegate until it returns `false` or throws.
  ///
  /// - Parameter body: called with each delegate; `false` ends the calls.
  /// - Throws: what `body` throws, which ends the calls.
  /// - Complexity: O(`count`).
  @inlinable @inline(__always)
  public func answerEach<E>(_ body: (Delegate) throws(E) -> Bool) throws(E) {
    try hub.answerEach { (original: Original) throws(E) -> Bool in
      guard let delegate = Composite._refined(original, as: Delegate.self) else { return true }
      return try body(delegate)
    }
  }

  /// Calls `body` with each delegate in the delegate's own context.
  ///
  /// - Parameter body: called with each delegate, later for those on a queue or an actor.
  /// - Complexity: O(`count`).
  @inlinable @inline(__always)
  public func callInContext(_ body: @autoclosure () -> @Sendable (Delegate) -> Void) {
    hub.invoke(Self.refined(body()))
  }

  /// Calls `body` with what is also a `Delegate`.
  @inlinable @inline(__always)
  static func refined(
    _ body: @escaping @Sendable (Delegate) -> Void
  ) -> @Sendable (Original) -> Void {
    { original in
      if let delegate = Composite._refined(original, as: Delegate.self) { body(delegate) }
    }
  }

  /// An iterator over the delegates that are registered now.
  ///
  /// - Returns: the iterator.
  /// - Complexity: as for ``MulticastDelegate/makeIterator()``.
  public func makeIterator() -> AnyIterator<Delegate> { Self.refined(hub.makeIterator()) }

  /// The delegates, for calls that suspend: without those that are blocked, dead or removed when
  /// the loop reaches them.
  ///
  /// - Returns: a sequence to iterate over once.
  /// - Complexity: as for ``MulticastDelegate/makeIterator()``.
  public func callees() -> AnyIterator<Delegate> { Self.refined(hub.makeCallIterator()) }

  /// A function for each delegate, which returns the delegate if that may be called then.
  ///
  /// - Returns: the functions, in registration order. They keep no weak delegate alive.
  /// - Complexity: O(`count`).
  public func laterDelegates() -> [@Sendable () -> Delegate?] {
    hub.laterCallees().map { original in
      { original().flatMap { Composite._refined($0, as: Delegate.self) } }
    }
  }

  private static func refined(
    _ originals: MulticastDelegate<Original>.Iterator
  ) -> AnyIterator<Delegate> {
    var originals = originals
    return AnyIterator {
      while let original = originals.next() {
        if let delegate = Composite._refined(original, as: Delegate.self) { return delegate }
      }
      return nil
    }
  }
}

// The functions that the hub has too.
extension RefinedDelegates {
  /// Calls `body` with each delegate, as ``MulticastDelegate/forEach(_:)`` does.
  ///
  /// - Parameter body: called with each delegate, on the calling thread.
  /// - Throws: what `body` throws, which ends the calls.
  /// - Complexity: O(`count`).
  @inlinable @inline(__always)
  public func forEach(_ body: (Delegate) throws -> Void) rethrows {
    try hub.forEach { original in
      if let delegate = Composite._refined(original, as: Delegate.self) { try body(delegate) }
    }
  }

  /// Calls `body` with each delegate, on the calling thread.
  ///
  /// - Parameter body: called with each delegate, on the calling thread.
  /// - Complexity: O(`count`).
  @inlinable @inline(__always)
  public func callEach(_ body: (Delegate) -> Void) {
    answerEach { delegate in
      body(delegate)
      return true
    }
  }

  /// Calls `body` with each delegate until it throws an error of type `E`.
  ///
  /// - Parameters:
  ///   - throwing: the type of the errors.
  ///   - body: called with each delegate, on the calling thread.
  /// - Throws: what `body` throws, which ends the calls.
  /// - Complexity: O(`count`).
  @inlinable @inline(__always)
  public func forEach<E>(throwing _: E.Type, _ body: (Delegate) throws(E) -> Void) throws(E) {
    try answerEach { (delegate: Delegate) throws(E) -> Bool in
      try body(delegate)
      return true
    }
  }

  /// Calls `body` with each delegate in the delegate's own context.
  ///
  /// - Parameter body: called with each delegate, later for those on a queue or an actor.
  /// - Complexity: O(`count`).
  @inlinable @inline(__always)
  public func invoke(_ body: @autoclosure () -> @Sendable (Delegate) -> Void) {
    callInContext(body())
  }
}

// What is not Sendable is refused in the composite of the refined protocol, where the message has its place.
// Here it is not reported again.
extension RefinedDelegates {
  /// Calls `body` with each delegate and `arguments`, in the delegate's own context.
  ///
  /// - Parameters:
  ///   - arguments: what `arguments(_:)` returned.
  ///   - body: called with each delegate and the arguments.
  /// - Complexity: O(`count`).
  @inlinable @inline(__always)
  public func invoke<Arguments>(
    with arguments: UncheckedArguments<Arguments>,
    _ body: @escaping @Sendable (Delegate, Arguments) -> Void
  ) {
    callInContext { body($0, arguments.values) }
  }
}

// For protocols that inherit whether they are Sendable, and their isolation: see `DelegateCaller+Delivery.swift`.
extension RefinedDelegates where Delegate: Sendable {
  /// The arguments, for ``invoke(with:_:)`` and ``deliver(with:isolation:_:)``.
  ///
  /// - Parameter arguments: the arguments of a requirement, as a tuple.
  /// - Returns: what the functions that deliver accept.
  /// - Complexity: O(1).
  @inlinable @inline(__always)
  public func arguments<Arguments>(_ arguments: Arguments) -> UncheckedArguments<Arguments> {
    UncheckedArguments(values: arguments)
  }

  /// Calls `body` with each delegate and `arguments`: on the calling thread if the caller belongs
  /// to an actor, and otherwise in the delegate's own context.
  ///
  /// - Parameters:
  ///   - arguments: what `arguments(_:)` returned.
  ///   - isolation: the actor that calls this function. Leave it out.
  ///   - body: called with each delegate and the arguments.
  /// - Precondition: `body` belongs to the actor of the caller, or to none.
  /// - Complexity: O(`count`).
  public func deliver<Arguments>(
    with arguments: UncheckedArguments<Arguments>,
    isolation: isolated (any Actor)? = #isolation,
    @_inheritActorContext _ body: @escaping @isolated(any) @Sendable (Delegate, Arguments) -> Void
  ) {
    requireOwnActor(body.isolation, isolation)
    let isIsolated = body.isolation != nil
    // SAFETY: as in `DelegateCaller.deliver(with:isolation:_:)`.
    let function = unsafeBitCast(body, to: (@Sendable (Delegate, Arguments) -> Void).self)
    if isIsolated {
      callEach { function($0, arguments.values) }
    } else {
      callInContext { function($0, arguments.values) }
    }
  }
}

/// Arguments that the composite of the refined protocol has checked.
///
/// ## Thread safety
/// The values are `Sendable`, or the composite that passes them does not compile.
public struct UncheckedArguments<Values>: @unchecked Sendable {
  // Sendable: see "Thread safety".
  @usableFromInline let values: Values

  @usableFromInline init(values: Values) {
    self.values = values
  }
}

// Delegates that are actors.
extension RefinedDelegates where Composite.Delegate: Sendable {
  /// Awaits `body` with each delegate, on the actor that the delegate is.
  ///
  /// - Parameters:
  ///   - home: the actor of a delegate: the delegate itself.
  ///   - body: called with each delegate.
  /// - Complexity: O(`count`).
  public func invoke(
    onEach home: (Delegate) -> any Actor, _ body: @escaping @Sendable (Delegate) async -> Void
  ) {
    hub.invoke(onEach: { original in
      guard let delegate = Composite._refined(original, as: Delegate.self) else {
        return MainActor.shared
      }
      return home(delegate)
    }) { original in
      if let delegate = Composite._refined(original, as: Delegate.self) { await body(delegate) }
    }
  }

  /// Awaits `body` with each delegate and `arguments`, on the actor that the delegate is.
  ///
  /// - Parameters:
  ///   - arguments: what `arguments(_:)` returned.
  ///   - home: the actor of a delegate: the delegate itself.
  ///   - body: called with each delegate and the arguments.
  /// - Complexity: O(`count`).
  public func invoke<Arguments>(
    with arguments: UncheckedArguments<Arguments>, onEach home: (Delegate) -> any Actor,
    _ body: @escaping @Sendable (Delegate, Arguments) async -> Void
  ) {
    invoke(onEach: home) { await body($0, arguments.values) }
  }

  /// The arguments, for calls that suspend.
  ///
  /// - Parameter arguments: the arguments of a requirement, as `arguments(_:)` returned them.
  /// - Returns: the arguments.
  /// - Complexity: O(1).
  @inlinable @inline(__always)
  public func sending<Arguments>(_ arguments: UncheckedArguments<Arguments>) -> Arguments {
    arguments.values
  }
}
