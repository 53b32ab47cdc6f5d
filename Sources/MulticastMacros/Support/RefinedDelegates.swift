/// The delegates of a hub as instances of a protocol that their own protocol refines.
///
/// ## Thread safety
/// As ``MulticastDelegate``.
public struct RefinedDelegates<Composite: MulticastComposite, Delegate> {
  /// The protocol of the delegates of the hub.
  public typealias Original = Composite.Delegate

  @usableFromInline let hub: MulticastDelegate<Original>
  /// Whether the delegates are `Sendable`, so that they may have queues and actors.
  public let areSendable: Bool

  @inlinable @inline(__always)
  init(_ hub: MulticastDelegate<Original>, areSendable: Bool) {
    self.hub = hub
    self.areSendable = areSendable
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

  /// A handle for each delegate, for a call that another task makes later.
  ///
  /// - Returns: the handles, in registration order. They keep no weak delegate alive.
  /// - Complexity: O(`count`).
  public func laterDelegates() -> [LaterDelegate<Delegate>] {
    hub.laterDelegates().map { original in
      original.map { Composite._refined($0, as: Delegate.self) }
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

// For protocols that inherit whether they are Sendable, and their isolation, too: see
// `DelegateCaller+Delivery.swift`.
extension RefinedDelegates where Delegate: Sendable {
  /// The arguments, for the functions that deliver.
  ///
  /// - Parameter arguments: the arguments of a requirement, as a tuple.
  /// - Returns: what the functions that deliver accept.
  /// - Complexity: O(1).
  @inlinable @inline(__always)
  public func arguments<Arguments: Sendable>(
    _ arguments: Arguments
  ) -> SendableArguments<Arguments> {
    SendableArguments(arguments)
  }

  /// Arguments that are not `Sendable`: code with them does not compile.
  ///
  /// - Parameter arguments: the arguments of a requirement, as a tuple.
  /// - Returns: a value without them.
  /// - Complexity: O(1).
  public func arguments<Arguments>(_ arguments: Arguments) -> UnreportedArguments<Arguments> {
    UnreportedArguments()
  }
}

/// Arguments that the composite of the refined protocol refuses, where the message has its place.
/// The forwarding of composites that inherit the requirement does not report them again, and never
/// runs.
///
/// ## Thread safety
/// Has no values.
public struct UnreportedArguments<Values>: Sendable {
  fileprivate init() {}

  fileprivate func fail() -> Never {
    fatalError("Multicast: arguments that are not Sendable cannot be delivered")
  }
}

extension RefinedDelegates where Delegate: Sendable {
  /// Ends the process: see ``UnreportedArguments``.
  ///
  /// - Parameters:
  ///   - arguments: what `arguments(_:)` returned.
  ///   - body: not called.
  /// - Complexity: O(1).
  public func invoke<Arguments>(
    capturing arguments: UnreportedArguments<Arguments>, _ body: (Delegate) -> Void
  ) {
    arguments.fail()
  }

  /// Ends the process: see ``UnreportedArguments``.
  ///
  /// - Parameters:
  ///   - arguments: what `arguments(_:)` returned.
  ///   - isolation: the actor that calls this function. Leave it out.
  ///   - body: not called.
  /// - Complexity: O(1).
  public func deliver<Arguments>(
    with arguments: UnreportedArguments<Arguments>,
    isolation: isolated (any Actor)? = #isolation,
    @_inheritActorContext _ body: @escaping @isolated(any) @Sendable (Delegate, Arguments) -> Void
  ) {
    arguments.fail()
  }

  /// Ends the process: see ``UnreportedArguments``.
  ///
  /// - Parameters:
  ///   - arguments: what `arguments(_:)` returned.
  ///   - home: not called.
  ///   - body: not called.
  /// - Complexity: O(1).
  public func invoke<Arguments>(
    with arguments: UnreportedArguments<Arguments>, onEach home: (Delegate) -> any Actor,
    _ body: @escaping @Sendable (Delegate, Arguments) async -> Void
  ) {
    arguments.fail()
  }

  /// Ends the process: see ``UnreportedArguments``.
  ///
  /// - Parameter arguments: what `arguments(_:)` returned.
  /// - Returns: never.
  /// - Complexity: O(1).
  public func sending<Arguments>(_ arguments: UnreportedArguments<Arguments>) -> Arguments {
    arguments.fail()
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
    with arguments: SendableArguments<Arguments>, onEach home: (Delegate) -> any Actor,
    _ body: @escaping @Sendable (Delegate, Arguments) async -> Void
  ) {
    invoke(onEach: home) { await body($0, arguments.values) }
  }
}
