extension MulticastComposite {
  /// The delegates as instances of a protocol that theirs refines. Expanded code calls it.
  ///
  /// - Parameter as: the protocol that is refined.
  /// - Returns: the same delegates, as instances of that protocol.
  /// - Complexity: O(1).
  @inlinable @inline(__always)
  public nonisolated func refinedDelegates<Refined>(
    as _: Refined.Type
  ) -> RefinedDelegates<Self, Refined> {
    RefinedDelegates(self)
  }

  /// `delegate` as an instance of a protocol that its own one refines, by a dynamic cast.
  @inlinable @inline(__always)
  public nonisolated static func _refined<Refined>(
    _ delegate: Delegate, as _: Refined.Type
  ) -> Refined? {
    delegate as? Refined
  }
}
