extension MulticastDelegate {
  /// Adds `delegate` weakly.
  public static func += (hub: MulticastDelegate, delegate: Delegate) {
    hub.add(delegate)
  }

  /// Removes every registration of `delegate`.
  public static func -= (hub: MulticastDelegate, delegate: Delegate) {
    hub.remove(delegate)
  }

  /// Calls `body` with each delegate, as ``invoke(_:)`` does.
  ///
  /// - Returns: the number of delegates that were called or for which the call was enqueued.
  @_disfavoredOverload  // As for `invoke(_:)`.
  @inlinable @discardableResult
  public static func ~> (
    hub: MulticastDelegate, body: @escaping @Sendable (Delegate) -> Void
  ) -> Int {
    hub.invoke(body)
  }
}
