// Expanded code passes arguments through `arguments(_:)` in a statement of its own. There the
// compiler chooses the overload by whether they are Sendable, and reports at the next statement
// that they are not.

/// Arguments that may leave the thread.
///
/// ## Thread safety
/// `Sendable`, as the arguments are.
public struct SendableArguments<Values: Sendable>: Sendable {
  @usableFromInline let values: Values

  @inlinable
  init(_ values: Values) { self.values = values }
}

/// Arguments for delegates that are called on the calling thread.
///
/// ## Thread safety
/// A value that one thread uses.
public struct LocalArguments<Values> {
  @usableFromInline let values: Values

  @inlinable
  init(_ values: Values) { self.values = values }
}

/// Arguments that must not leave the thread.
///
/// ## Thread safety
/// Not `Sendable`: that is its purpose.
public struct RefusedArguments<Arguments> {
  @usableFromInline init() {}
}

/// What a call that a composite inherits captures. A composite inherits it from a protocol that is
/// not known to be Sendable, and may have delegates that are.
///
/// The arguments are captured, and only their types passed: a closure that does not escape can be
/// captured, but not passed on, and an alias hides that from the macro.
///
/// - Returns: what `deliver` takes with a function that leaves the thread.
/// - Complexity: O(1).
@inlinable
public func capturedArguments() -> SendableArguments<Void> { SendableArguments(()) }

extension SendableArguments where Values == Void {
  /// The same with another captured argument, which may leave the thread.
  ///
  /// - Parameter type: its type.
  /// - Returns: what `deliver` takes with a function that leaves the thread.
  /// - Complexity: O(1).
  @inlinable
  public func and<T: Sendable>(_ type: T.Type) -> SendableArguments<Void> { self }

  /// The same with another captured argument, which may not leave the thread.
  ///
  /// - Parameter type: its type.
  /// - Returns: what `deliver` takes with a function that does not leave the thread.
  /// - Complexity: O(1).
  @inlinable
  public func and<T>(_ type: T.Type) -> LocalArguments<Void> { LocalArguments(()) }

  /// The same with another captured argument, which may not outlive the call.
  ///
  /// - Parameter type: its type.
  /// - Returns: what `deliver` takes with a function that does not leave the thread.
  /// - Complexity: O(1).
  @inlinable
  public func and<T: ~Copyable & ~Escapable>(_ type: T.Type) -> LocalArguments<Void> {
    LocalArguments(())
  }
}

extension LocalArguments where Values == Void {
  /// The same with another captured argument.
  ///
  /// - Parameter type: its type.
  /// - Returns: what `deliver` takes with a function that does not leave the thread.
  /// - Complexity: O(1).
  @inlinable
  public func and<T: ~Copyable & ~Escapable>(_ type: T.Type) -> LocalArguments<Void> { self }
}

/// The type of an argument as the compiler knows it: that of an existential is the existential.
///
/// - Parameter value: not evaluated. The compiler does not open an existential in an autoclosure.
/// - Returns: its type.
/// - Complexity: O(1).
@inlinable
public func staticType<T>(of value: @autoclosure () -> T) -> T.Type { T.self }

extension DelegateCaller {
  /// Delegates that are not `Sendable` are called on the calling thread, with any arguments.
  ///
  /// - Parameter arguments: the arguments of a requirement, as a tuple.
  /// - Returns: what the functions that deliver accept.
  /// - Complexity: O(1).
  @inlinable
  public func arguments<Arguments>(_ arguments: Arguments) -> LocalArguments<Arguments> {
    LocalArguments(arguments)
  }
}

extension DelegateCaller where Delegate: Sendable {
  /// The arguments themselves.
  ///
  /// - Parameter arguments: the arguments of a requirement, as a tuple.
  /// - Returns: what the functions that deliver accept.
  /// - Complexity: O(1).
  @inlinable
  public func arguments<Arguments: Sendable>(
    _ arguments: Arguments
  ) -> SendableArguments<Arguments> {
    SendableArguments(arguments)
  }

  /// A value that ``invoke(capturing:_:)`` refuses.
  ///
  /// - Parameter arguments: the arguments of a requirement, as a tuple.
  /// - Returns: what no function accepts, so that the compiler reports it.
  /// - Complexity: O(1).
  @inlinable
  public func arguments<Arguments>(_ arguments: Arguments) -> RefusedArguments<Arguments> {
    RefusedArguments()
  }

  /// Refuses arguments that must not leave the thread.
  @available(
    *, unavailable,
    message: """
      an argument of this requirement is not Sendable and cannot be delivered on a delegate's queue: \
      make its type Sendable, or write @Answer(.inline) above the requirement
      """
  )
  public func invoke<Arguments>(
    capturing arguments: RefusedArguments<Arguments>, _ body: (Delegate) -> Void
  ) {}

  /// Refuses arguments that must not leave the thread.
  @available(
    *, unavailable,
    message: """
      an argument of this requirement is not Sendable and cannot be delivered on a delegate's queue: \
      make its type Sendable, or write @Answer(.inline) above the requirement
      """
  )
  public func deliver<Arguments>(
    with arguments: RefusedArguments<Arguments>, _ body: (Delegate, Arguments) -> Void
  ) {}

  // MARK: Delegates that are actors

  /// The arguments themselves.
  ///
  /// - Parameter arguments: the arguments of a requirement, as `arguments(_:)` returned them.
  /// - Returns: the arguments.
  /// - Complexity: O(1).
  @inlinable
  public func sending<Arguments>(_ arguments: SendableArguments<Arguments>) -> Arguments {
    arguments.values
  }

  /// Refuses arguments that must not leave their actor.
  @available(
    *, unavailable,
    message: """
      an argument of this requirement is not Sendable and cannot be passed to other actors: make its \
      type Sendable
      """
  )
  public func sending<Arguments>(_ arguments: RefusedArguments<Arguments>) -> Arguments {
    fatalError("unavailable")
  }

  /// Refuses arguments that must not leave their actor.
  @available(
    *, unavailable,
    message: """
      an argument of this requirement is not Sendable and cannot be passed to other actors: make its \
      type Sendable
      """
  )
  public func invoke<Arguments>(
    with arguments: RefusedArguments<Arguments>, onEach home: (Delegate) -> any Actor,
    _ body: (Delegate, Arguments) async -> Void
  ) {}
}
