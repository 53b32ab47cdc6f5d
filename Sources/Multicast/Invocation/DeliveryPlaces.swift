// The places that `subscribe` and `add` name, besides queues and actors. They are types of their
// own, so that the compiler knows the isolation of the handler from the place.

/// The main actor as the place where a handler or a delegate is called: `on: .main`.
///
/// ## Thread safety
/// A value: any thread may use its copy.
public struct MainActorPlace: Sendable, Hashable {
  private init() {}

  /// The main actor.
  public static var main: MainActorPlace { MainActorPlace() }
}

/// The thread of the sender as the place where a handler is called: `on: .sender`.
///
/// ## Thread safety
/// A value: any thread may use its copy.
public struct SenderPlace: Sendable, Hashable {
  private init() {}

  /// The thread that sends, inside `send`.
  public static var sender: SenderPlace { SenderPlace() }
}
