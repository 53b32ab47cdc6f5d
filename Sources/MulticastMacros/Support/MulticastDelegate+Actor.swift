// What `hub ~> { … }` of an isolated protocol calls: the overload that the compiler chooses depends
// on whether the delegates are Sendable, which a macro cannot know.

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
  /// As for delegates that are `Sendable`, for a caller that belongs to that actor: other delegates
  /// stay where their hub is.
  ///
  /// - Parameters:
  ///   - isolation: the actor of the caller, to which the delegates stay bound. Leave it out.
  ///   - body: called with each delegate.
  /// - Returns: the number of delegates for which the call was enqueued.
  /// - Precondition: `body` belongs to the actor of the caller, or to none.
  /// - Complexity: O(`count`).
  @discardableResult
  public func invokeOnActor(
    isolation: isolated (any Actor)? = #isolation,
    _ body: @escaping @isolated(any) @Sendable (Delegate) -> Void
  ) -> Int {
    // That the caller happens to run there is not enough: the compiler would not bind the delegates
    // to it.
    require(
      body.isolation == nil || body.isolation === isolation,
      "Multicast: the protocol of this hub is not Sendable; use the hub on the protocol's actor")
    return uncheckedInvokeIsolated(isolation: nil, body)
  }
}
