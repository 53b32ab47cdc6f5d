// Another thread may deliver an event, so what subscribers see of its sender travels with it.

extension EventSequencer {
  /// Captures the values of `keys` with each event from now on.
  func carry(_ keys: CarriedKeys) {
    lock.withLock { keys.add(to: &carried) }
  }

  /// Numbers an event and adds it, with what subscribers see of its sender.
  ///
  /// - Parameter makePending: the event with its number and these values, to be pending.
  /// - Returns: the event, `nil` if the hub has ended; and the values.
  @inline(__always)
  func add(
    _ retained: RetainedEvent, needsSpace: Bool, _ hub: EventHub<Event>,
    _ makePending: (SentEvent, CarriedValues?) -> PendingDelivery
  ) -> (AddedEvent?, CarriedValues?) {
    while true {
      let (values, keyCount) = captureValues(hub)
      let added = lock.withLockAfterPolling { () -> AddedEvent?? in
        // A subscription that began in the meantime added its keys first, and begins before this
        // event. Keys are never removed.
        guard keyCount == carried.count else { return nil }
        return .some(add(retained, needsSpace: needsSpace) { makePending($0, values) })
      }
      if let added { return (added, values) }
    }
  }

  /// The values in the current task that subscribers see: those of `hub`, and those to which it
  /// passes its events on.
  ///
  /// - Returns: the values, and how many keys `hub` had.
  private func captureValues(_ hub: EventHub<Event>) -> (CarriedValues?, keyCount: Int) {
    let further = hub.forwarder?.keysCarriedFurther
    let isCarriedFurther = further.map { !$0.isEmpty } ?? false
    guard hub.kinds.hasCarriers || isCarriedFurther else { return (nil, 0) }
    var keys = lock.withLock { carried }
    let keyCount = keys.count
    if let further { keys.merge(further.captures) { own, _ in own } }
    return (CarriedValues(bindings: keys.values.map { $0() }), keyCount)
  }
}
