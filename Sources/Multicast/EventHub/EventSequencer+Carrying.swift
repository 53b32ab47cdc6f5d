// Another thread may deliver an event, so what subscribers see of its sender travels with it.

extension EventSequencer {
  /// Captures the values of `keys` with each event from now on.
  func carry(_ keys: CarriedKeys) {
    lock.withLock { keys.add(to: &carried) }
  }

  /// The values in the current task that subscribers see: those of `hub`, and those to which it
  /// passes its events on.
  func captureValues(_ hub: EventHub<Event>) -> CarriedValues? {
    let further = hub.forwarder?.keysCarriedFurther
    let isCarriedFurther = further.map { !$0.isEmpty } ?? false
    guard hub.kinds.hasCarriers || isCarriedFurther else { return nil }
    var keys = lock.withLock { carried }
    if let further { keys.merge(further.captures) { own, _ in own } }
    return CarriedValues(bindings: keys.values.map { $0() })
  }
}
