// What `hub ~> { … }` of an isolated protocol calls: the overload that the compiler chooses depends on
// whether the delegates are Sendable, which a macro cannot know.

extension MulticastDelegate where Delegate: Sendable {
  /// Calls `body` with each delegate on the actor to which `body` belongs, as
  /// ``MulticastDelegate/invokeIsolated(isolation:_:)`` does.
  ///
  /// - Parameter body: called with each delegate.
  /// - Returns: the number of delegates for which the call was enqueued.
  /// - Complexity: O(`count`).
  @discardableResult
  public func invokeOnActor(
    _ body: @escaping @isolated(any) @Sendable (Delegate) -> Void
  ) -> Int {
    uncheckedInvokeIsolated(isolation: nil, body)
  }
}

extension MulticastDelegate {
  /// As for delegates that are `Sendable`, for a caller on that actor: other delegates stay where
  /// their hub is.
  ///
  /// - Parameters:
  ///   - isolation: the actor of the caller, to which the delegates stay bound. Leave it out.
  ///   - body: called with each delegate.
  /// - Returns: the number of delegates for which the call was enqueued.
  /// - Precondition: the caller is on the actor of `body`.
  /// - Complexity: O(`count`).
  @discardableResult
  public func invokeOnActor(
    isolation: isolated (any Actor)? = #isolation,
    _ body: @escaping @isolated(any) @Sendable (Delegate) -> Void
  ) -> Int {
    body.isolation?.preconditionIsolated(
      "Multicast: the protocol of this hub is not Sendable; use the hub on the protocol's actor")
    return uncheckedInvokeIsolated(isolation: nil, body)
  }
}
