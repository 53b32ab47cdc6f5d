public import Dispatch

// Sendable delegates may be used from any thread.
extension MulticastComposite where Delegate: Sendable {
  /// Adds `delegate` after the others, as ``MulticastDelegate/add(_:ownership:)`` does.
  ///
  /// - Complexity: as for the hub.
  @discardableResult
  public nonisolated func add(
    _ delegate: Delegate, ownership: Ownership = .weak
  ) -> Registration<Delegate> {
    _composition.hub.add(delegate, ownership: ownership)
  }

  /// Adds `delegate` after the others. Requirements without an answer call it on `queue`, as
  /// ``MulticastDelegate/add(_:ownership:on:buffering:)`` describes.
  ///
  /// - Complexity: as for the hub.
  @_disfavoredOverload  // `.main` is the main actor, as in the hub.
  @discardableResult
  public nonisolated func add(
    _ delegate: Delegate, ownership: Ownership = .weak, on queue: DispatchQueue,
    buffering: QueueBuffering = .unbounded
  ) -> Registration<Delegate> {
    _composition.hub.add(delegate, ownership: ownership, on: queue, buffering: buffering)
  }

  /// Adds `delegate` after the others. Requirements without an answer call it on the main actor.
  ///
  /// - Complexity: as for the hub.
  @discardableResult
  public nonisolated func add(
    _ delegate: Delegate, ownership: Ownership = .weak, on main: MainActorPlace,
    buffering: QueueBuffering = .unbounded
  ) -> Registration<Delegate> {
    _composition.hub.add(delegate, ownership: ownership, on: main, buffering: buffering)
  }

  /// Adds `delegate` after the others. Requirements without an answer call it on `home`.
  ///
  /// - Complexity: as for the hub.
  @discardableResult
  public nonisolated func add(
    _ delegate: Delegate, ownership: Ownership = .weak, on home: any Actor,
    buffering: QueueBuffering = .unbounded
  ) -> Registration<Delegate> {
    _composition.hub.add(delegate, ownership: ownership, on: home, buffering: buffering)
  }

  /// Removes every registration of `delegate`, as ``MulticastDelegate/remove(_:)`` does.
  ///
  /// - Returns: whether it was registered.
  /// - Complexity: as for the hub.
  @discardableResult
  public nonisolated func remove(_ delegate: Delegate) -> Bool {
    _composition.hub.remove(delegate)
  }

  /// Removes every delegate.
  ///
  /// - Complexity: O(`count`).
  public nonisolated func removeAll() { _composition.hub.removeAll() }

  /// Whether `delegate` is registered.
  ///
  /// - Complexity: O(1).
  public nonisolated func contains(_ delegate: Delegate) -> Bool {
    _composition.hub.contains(delegate)
  }

  /// The number of registered delegates that are alive.
  ///
  /// - Complexity: O(`count`).
  public nonisolated var count: Int { _composition.hub.count }

  /// Whether no registered delegate is alive.
  ///
  /// - Complexity: as for the hub.
  public nonisolated var isEmpty: Bool { _composition.hub.isEmpty }

  /// Adds `delegate` weakly.
  public static func += (composite: Self, delegate: Delegate) {
    composite._composition.hub.add(delegate)
  }

  /// Removes every registration of `delegate`.
  public static func -= (composite: Self, delegate: Delegate) {
    composite._composition.hub.remove(delegate)
  }
}
