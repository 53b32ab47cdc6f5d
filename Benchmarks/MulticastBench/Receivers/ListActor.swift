/// An actor with a list of delegates: what one writes to have them called off the caller's thread.
actor ListActor {
  private var observers: [any Observer]

  init(_ observers: [any Observer]) {
    self.observers = observers
  }

  func invoke(_ body: @Sendable (any Observer) async -> Void) async {
    for observer in observers { await body(observer) }
  }

  /// As `invoke`, but `body` runs on the global pool.
  func invokeElsewhere(_ body: @concurrent @Sendable (any Observer) async -> Void) async {
    for observer in observers { await body(observer) }
  }
}
