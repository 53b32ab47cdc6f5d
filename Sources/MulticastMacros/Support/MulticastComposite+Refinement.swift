extension MulticastComposite {
  /// The delegates as instances of a protocol that theirs refines. Expanded code calls it.
  ///
  /// - Parameter as: the protocol that is refined.
  /// - Returns: the same delegates, as instances of that protocol.
  /// - Precondition: the caller is on the actor of the composite, if that has one.
  /// - Complexity: O(1).
  @inlinable @inline(__always)
  public nonisolated func refinedDelegates<Refined>(
    as _: Refined.Type
  ) -> RefinedDelegates<Self, Refined> {
    RefinedDelegates(_composition.checkedHub(), areSendable: _composition.areSendable)
  }

  /// As above, for a requirement that suspends. The actor of its caller tells where it runs.
  ///
  /// - Parameters:
  ///   - as: the protocol that is refined.
  ///   - isolation: the actor of the requirement; `nil`: it leaves the actor of its caller.
  /// - Returns: the same delegates, as instances of that protocol.
  /// - Precondition: the requirement runs on the actor of the composite, if that has one.
  /// - Complexity: O(1).
  public nonisolated func refinedDelegates<Refined>(
    as _: Refined.Type, isolation: (any Actor)?
  ) -> RefinedDelegates<Self, Refined> {
    require(
      _composition.isolation == nil || _composition.isolation === isolation,
      """
      Multicast: an async requirement of \(Refined.self) leaves the actor of \(Self.self), whose \
      delegates are not Sendable: write 'nonisolated(nonsending)' before the requirement, or make the \
      protocol that inherits it Sendable
      """)
    return RefinedDelegates(_composition.hub, areSendable: _composition.areSendable)
  }

  /// `delegate` as an instance of a protocol that its own one refines, by a dynamic cast.
  @inlinable @inline(__always)
  public nonisolated static func _refined<Refined>(
    _ delegate: Delegate, as _: Refined.Type
  ) -> Refined? {
    delegate as? Refined
  }
}

extension MulticastComposite where Delegate: Sendable {
  /// As for other delegates, from any thread.
  ///
  /// - Parameter as: the protocol that is refined.
  /// - Returns: the same delegates, as instances of that protocol.
  /// - Complexity: O(1).
  @inlinable @inline(__always)
  public nonisolated func refinedDelegates<Refined>(
    as _: Refined.Type
  ) -> RefinedDelegates<Self, Refined> {
    RefinedDelegates(_composition.hub, areSendable: true)
  }
}
