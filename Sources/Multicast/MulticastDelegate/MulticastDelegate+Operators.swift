extension MulticastDelegate {
  /// Adds `delegate` weakly.
  ///
  /// - Parameters:
  ///   - hub: the hub.
  ///   - delegate: compared by identity.
  /// - Complexity: as for ``add(_:ownership:label:fileID:line:)``.
  public static func += (hub: MulticastDelegate, delegate: Delegate) {
    _ = hub.registry.add(delegate, ownership: .weak, origin: .unknown)
  }

  /// Removes every registration of `delegate`.
  ///
  /// - Parameters:
  ///   - hub: the hub.
  ///   - delegate: compared by identity.
  /// - Complexity: as for ``remove(_:)``.
  public static func -= (hub: MulticastDelegate, delegate: Delegate) {
    hub.remove(delegate)
  }

  /// Calls `body` with each delegate, as ``invoke(_:)`` does.
  ///
  /// - Parameters:
  ///   - hub: the hub.
  ///   - body: called with each delegate, later for those on a queue or an actor.
  /// - Returns: the number of delegates that were called or for which the call was enqueued.
  /// - Complexity: O(`count`).
  @_disfavoredOverload  // As for `invoke(_:)`.
  @inlinable @inline(__always) @discardableResult
  public static func ~> (
    hub: MulticastDelegate, body: @autoclosure () -> @Sendable (Delegate) -> Void
  ) -> Int {
    hub.invoke(body())
  }
}
