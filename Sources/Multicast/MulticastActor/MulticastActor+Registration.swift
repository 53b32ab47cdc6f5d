extension MulticastActor {
  /// Adds `delegate` after the others.
  ///
  /// Invocations that begin after this has returned call it; those that began before do not.
  ///
  /// - Parameters:
  ///   - delegate: the delegate to call.
  ///   - ownership: whether the hub keeps it alive.
  ///   - label: names it in snapshots.
  ///   - fileID: the file of the call, for snapshots. Leave it out.
  ///   - line: its line. Leave it out.
  /// - Returns: a handle that can end the registration. Releasing the handle does not end it. For a
  ///   delegate that is already registered, see ``DuplicatePolicy``.
  /// - Precondition: `delegate` is an instance of a class or an actor if `ownership` is `.weak`.
  ///   The box of a value type would be deallocated at once.
  /// - Complexity: amortised O(1), and O(`count`) for the first change after an invocation.
  @discardableResult
  public nonisolated func add(
    _ delegate: Delegate, ownership: Ownership = .weak, label: String? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> Registration<Delegate> {
    Registration(registry.add(delegate, ownership: ownership, origin: Origin(fileID, line, label)))
  }

  /// Removes every registration of `delegate`.
  ///
  /// No invocation calls it afterwards, including those that are running. A call that passed its
  /// check before may still run or be suspended; see ``Registration/cancelAndWait()``. May be
  /// called from the `deinit` of `delegate`.
  ///
  /// - Parameter delegate: compared by identity.
  /// - Returns: whether it was registered. A value type is never found: use its ``Registration``.
  ///   With portable weak references this may be `true` for the address of a dead delegate; see
  ///   <doc:Limitations>.
  /// - Complexity: as for ``add(_:ownership:label:fileID:line:)``, for each registration of
  ///   `delegate`.
  @discardableResult
  public nonisolated func remove(_ delegate: Delegate) -> Bool {
    registry.remove(delegate: delegate)
  }

  /// Removes every delegate.
  ///
  /// - Complexity: O(`count`).
  public nonisolated func removeAll() {
    registry.removeAll()
  }

  /// Whether `delegate` is registered.
  ///
  /// - Parameter delegate: compared by identity.
  /// - Returns: `true` if it has a registration. A value type never has.
  /// - Complexity: O(1).
  public nonisolated func contains(_ delegate: Delegate) -> Bool {
    registry.contains(delegate: delegate)
  }

  /// Removes the registrations of dead delegates.
  ///
  /// Calling this is optional: see ``MulticastDelegate/prune()``.
  ///
  /// - Returns: the number of registrations that were removed.
  /// - Complexity: O(`count`).
  @discardableResult
  public nonisolated func prune() -> Int {
    registry.prune()
  }

  /// The delegates that are registered and alive now, in registration order. The array keeps them
  /// alive.
  ///
  /// - Complexity: O(`count`).
  public nonisolated var delegates: [Delegate] { registry.live(as: Delegate.self) }

  /// The number of registered delegates that are alive.
  ///
  /// - Complexity: O(`count`).
  public nonisolated var count: Int { registry.liveCount }

  /// Whether no registered delegate is alive.
  ///
  /// - Complexity: O(1), plus O(dead delegates and empty slots at the front).
  ///   ``StorageStrategy/locked`` copies the list: O(`count`).
  public nonisolated var isEmpty: Bool { !registry.hasLive }
}
