extension EventHub {
  /// What the hub looks like now: its receivers, where they were registered, and what waits for
  /// them.
  ///
  /// It calls no code of the program. Only the `deinit` of what ends meanwhile may run here.
  ///
  /// - Complexity: O(subscribers).
  public var snapshot: HubSnapshot {
    HubSnapshot(
      type: "EventHub<\(Event.self)>", name: name, receivers: receivers(),
      dropped: drops.current?.total ?? 0, refused: drops.current?.refused ?? 0)
  }

  /// The subscribers, including those that have ended and still have events to receive.
  ///
  /// - Parameter readers: see ``Registry/receivers(_:readers:)``.
  func receivers(
    readers: [UnsafeMutableRawPointer: EventReader] = [:]
  ) -> [ReceiverSnapshot] {
    registry.receivers(
      { entry in
        switch entry.mailbox {
        case is StreamMailbox: "sequence"
        case is TaskMailbox: "async handler"
        default: "handler"
        }
      }, readers: readers)
  }

  /// Calls `handler` once for each line of the program of which more than `limit` registrations
  /// exist at once: perhaps a leak.
  ///
  /// Only registrations that are made after this call count, and not those of ``first(where:)``,
  /// whose line is not known.
  ///
  /// - Parameters:
  ///   - limit: the most registrations of one line that are no leak.
  ///   - handler: called by the thread that registers, with no lock held. It may register and
  ///     cancel.
  /// - Precondition: `limit` is at least 1, and this was not called before.
  /// - Complexity: O(1). Afterwards each registration costs an allocation more, and a warning
  ///   O(subscribers).
  public func warnOfLeaks(
    above limit: Int = 100, _ handler: @escaping @Sendable (LeakWarning) -> Void
  ) {
    registry.watchForLeaks(above: limit, handler)
  }
}

extension EventHub: InspectableHub {}
