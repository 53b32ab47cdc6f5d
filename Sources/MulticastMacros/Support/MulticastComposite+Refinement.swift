extension MulticastComposite {
  /// The delegates as instances of a protocol that theirs refines. Expanded code calls it.
  @inlinable
  public nonisolated func refinedDelegates<Refined>(
    as _: Refined.Type
  ) -> RefinedDelegates<Delegate, Refined> {
    RefinedDelegates(_composition.hub)
  }
}
