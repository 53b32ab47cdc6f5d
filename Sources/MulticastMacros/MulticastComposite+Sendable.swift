public import Dispatch

// Sendable delegates may be used from any thread.
extension MulticastComposite where Delegate: Sendable {
  /// Adds `delegate` after the others, as ``MulticastDelegate/add(_:ownership:label:fileID:line:)``
  /// does.
  ///
  /// - Parameters:
  ///   - delegate: compared by identity.
  ///   - ownership: whether the composite keeps it alive.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  /// - Returns: a handle that can end the registration.
  /// - Complexity: as for the hub.
  @discardableResult
  public nonisolated func add(
    _ delegate: Delegate, ownership: Ownership = .weak, label: String? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> Registration<Delegate> {
    _composition.hub.add(delegate, ownership: ownership, label: label, fileID: fileID, line: line)
  }

  /// Adds `delegate` after the others. Requirements without an answer call it on `queue`, as
  /// ``MulticastDelegate/add(_:ownership:on:buffering:label:fileID:line:)`` describes.
  ///
  /// - Parameters:
  ///   - delegate: compared by identity.
  ///   - ownership: whether the composite keeps it alive.
  ///   - queue: the queue on which it is called.
  ///   - buffering: how many calls may wait, and what happens when the buffer is full.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  /// - Returns: a handle that can end the registration.
  /// - Complexity: as for the hub.
  @_disfavoredOverload  // `.main` is the main actor, as in the hub.
  @discardableResult
  public nonisolated func add(
    _ delegate: Delegate, ownership: Ownership = .weak, on queue: DispatchQueue,
    buffering: QueueBuffering = .unbounded, label: String? = nil, fileID: StaticString = #fileID,
    line: UInt = #line
  ) -> Registration<Delegate> {
    _composition.hub.add(
      delegate, ownership: ownership, on: queue, buffering: buffering, label: label, fileID: fileID,
      line: line)
  }

  /// Adds `delegate` after the others. Requirements without an answer call it on the main actor.
  ///
  /// - Parameters:
  ///   - delegate: compared by identity.
  ///   - ownership: whether the composite keeps it alive.
  ///   - main: write `.main`.
  ///   - buffering: how many calls may wait, and what happens when the buffer is full.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  /// - Returns: a handle that can end the registration.
  /// - Complexity: as for the hub.
  @discardableResult
  public nonisolated func add(
    _ delegate: Delegate, ownership: Ownership = .weak, on main: MainActorPlace,
    buffering: QueueBuffering = .unbounded, label: String? = nil, fileID: StaticString = #fileID,
    line: UInt = #line
  ) -> Registration<Delegate> {
    _composition.hub.add(
      delegate, ownership: ownership, on: main, buffering: buffering, label: label, fileID: fileID,
      line: line)
  }

  /// Adds `delegate` after the others. Requirements without an answer call it on `home`.
  ///
  /// - Parameters:
  ///   - delegate: compared by identity.
  ///   - ownership: whether the composite keeps it alive.
  ///   - home: the actor on which it is called.
  ///   - buffering: how many calls may wait, and what happens when the buffer is full.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  /// - Returns: a handle that can end the registration.
  /// - Complexity: as for the hub.
  @discardableResult
  public nonisolated func add(
    _ delegate: Delegate, ownership: Ownership = .weak, on home: any Actor,
    buffering: QueueBuffering = .unbounded, label: String? = nil, fileID: StaticString = #fileID,
    line: UInt = #line
  ) -> Registration<Delegate> {
    _composition.hub.add(
      delegate, ownership: ownership, on: home, buffering: buffering, label: label, fileID: fileID,
      line: line)
  }

  /// Removes every registration of `delegate`, as ``MulticastDelegate/remove(_:)`` does.
  ///
  /// - Parameter delegate: compared by identity.
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
  /// - Parameter delegate: compared by identity.
  /// - Returns: `true` if it has a registration. A value type never has.
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
  ///
  /// - Parameters:
  ///   - composite: the composite.
  ///   - delegate: compared by identity.
  /// - Complexity: as for `add`.
  public static func += (composite: Self, delegate: Delegate) {
    composite._composition.hub += delegate
  }

  /// Removes every registration of `delegate`.
  ///
  /// - Parameters:
  ///   - composite: the composite.
  ///   - delegate: compared by identity.
  /// - Complexity: as for `remove(_:)`.
  public static func -= (composite: Self, delegate: Delegate) {
    composite._composition.hub.remove(delegate)
  }
}
