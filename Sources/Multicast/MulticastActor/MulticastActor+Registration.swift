extension MulticastActor {
  /// Adds `delegate` behind the others.
  ///
  /// An invocation that begins after this has returned calls it; one that has begun before does
  /// not.
  ///
  /// - Parameters:
  ///   - delegate: what to call.
  ///   - ownership: whether to keep it alive.
  /// - Returns: a handle to end the registration. Dropping the handle does not end it. If the
  ///   delegate is registered already, see ``DuplicatePolicy``.
  /// - Precondition: `delegate` is an instance of a class or an actor if `ownership` is `.weak`. A
  ///   value type would be lost at once.
  /// - Complexity: amortised O(1), and O(`count`) for the first change after an invocation.
  @discardableResult
  public nonisolated func add(
    _ delegate: Delegate, ownership: Ownership = .weak
  ) -> Registration<Delegate> {
    Registration(registry.add(delegate, ownership: ownership))
  }

  /// Removes every registration of `delegate`.
  ///
  /// It is not called any more, also not by an invocation that is under way. A call that had passed
  /// its check may still be running, or be suspended; see ``Registration/cancelAndWait()``. May be
  /// called from the `deinit` of `delegate`.
  ///
  /// - Returns: whether it was registered. A value type never is found: use its ``Registration``.
  /// - Complexity: as for ``add(_:ownership:)``, for each registration of `delegate`.
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
  /// - Complexity: O(1).
  public nonisolated func contains(_ delegate: Delegate) -> Bool {
    registry.contains(delegate: delegate)
  }

  /// Removes the registrations of delegates that are gone.
  ///
  /// Nobody needs to call this: see ``MulticastDelegate/prune()``.
  ///
  /// - Returns: how many were removed.
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

  /// How many registered delegates are alive. A dead one is never counted.
  ///
  /// - Complexity: O(`count`).
  public nonisolated var count: Int { registry.liveCount(as: Delegate.self) }

  /// Whether no registered delegate is alive.
  ///
  /// - Complexity: O(1), and O(dead delegates and removed places in front). With
  ///   ``StorageStrategy/locked``, which copies the list, O(`count`).
  public nonisolated var isEmpty: Bool { !registry.hasLive(as: Delegate.self) }
}
