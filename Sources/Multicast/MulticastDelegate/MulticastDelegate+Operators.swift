extension MulticastDelegate {
  /// Adds `delegate`, weakly.
  public static func += (hub: MulticastDelegate, delegate: Delegate) {
    hub.add(delegate)
  }

  /// Removes every registration of `delegate`.
  public static func -= (hub: MulticastDelegate, delegate: Delegate) {
    hub.remove(delegate)
  }

  /// Calls `body` with each delegate, as ``invoke(_:)``.
  ///
  /// - Returns: how many delegates were called or have the call enqueued.
  @inlinable @discardableResult
  public static func ~> (
    hub: MulticastDelegate, body: @escaping @Sendable (Delegate) -> Void
  ) -> Int {
    hub.invoke(body)
  }
}
