extension SubscriberOption {
  /// The handler sees the values that the task-local `keys` had where the event was sent.
  ///
  /// ```swift
  /// enum Trace {
  ///   @TaskLocal static var id: String?
  /// }
  ///
  /// hub.subscribe(on: .main, options: [.carrying(Trace.$id)]) { event in
  ///   log(event, trace: Trace.id)  // that of the sender
  /// }
  /// ```
  /// A handler that is called on a queue, on an actor or in a task sees no task-locals otherwise.
  /// One that the sender calls sees all of them, except in a hub with one order (see ``Ordering``),
  /// where another sender may deliver the event. Events of a replay carry no values: a handler that
  /// senders call sees those of the thread that delivers them, mostly the one that subscribes.
  ///
  /// Each event is boxed once more for this subscriber, and each key is read at `send` and bound
  /// around the call. Other subscribers pay nothing; in a hub with one order, each `send` reads the
  /// keys. Several of these options, also in a ``combining(_:)``, add up.
  ///
  /// - Parameter keys: the projected values of `@TaskLocal` properties.
  /// - Returns: the option.
  public static func carrying<each Value: Sendable>(_ keys: repeat TaskLocal<each Value>) -> Self {
    var found: [(key: ObjectIdentifier, capture: @Sendable () -> CarriedValues.Binding)] = []
    for key in repeat each keys { found.append((ObjectIdentifier(key), capture(key))) }
    let captures = found
    return Self { request in
      let earlier = request.carried?.captureEach ?? []
      request.carried = CarriedKeys(earlier + captures)
    }
  }

  private static func capture<Value: Sendable>(
    _ key: TaskLocal<Value>
  ) -> @Sendable () -> CarriedValues.Binding {
    { CarriedValues.Binding(key, key.get()) }
  }
}
