extension MulticastDelegate {
  /// The delegates that are registered and alive now, in registration order.
  ///
  /// The array keeps them alive.
  ///
  /// - Complexity: O(`count`).
  public var delegates: [Delegate] { registry.live(as: Delegate.self) }

  /// The number of registered delegates that are alive.
  ///
  /// - Complexity: O(`count`).
  public var count: Int { registry.liveCount }

  /// Whether no registered delegate is alive.
  ///
  /// - Complexity: O(1), plus O(dead delegates and empty slots at the front).
  ///   ``StorageStrategy/locked`` copies the list: O(`count`).
  public var isEmpty: Bool { !registry.hasLive }

  /// The live delegate at `index`, counted from zero in registration order, or `nil` if there is
  /// none.
  ///
  /// - Parameter index: counted from zero, among the live delegates.
  /// - Returns: the delegate, or `nil`.
  /// - Complexity: O(`index`), plus O(dead delegates and empty slots before it).
  ///   ``StorageStrategy/locked`` copies the list: O(`count`).
  public subscript(index: Int) -> Delegate? {
    registry.liveValue(at: index, as: Delegate.self)
  }

  /// The index of `delegate` among the live delegates, in registration order, or `nil` if it is not
  /// registered or has no identity.
  ///
  /// - Parameter delegate: compared by identity.
  /// - Returns: the index, or `nil`.
  /// - Complexity: O(`count`).
  public func firstIndex(of delegate: Delegate) -> Int? {
    Entry.identity(of: delegate).flatMap { registry.liveIndex(of: $0) }
  }

  /// The same as ``firstIndex(of:)``.
  ///
  /// - Parameter delegate: compared by identity.
  /// - Returns: the index, or `nil`.
  /// - Complexity: as for ``firstIndex(of:)``.
  public subscript(delegate: Delegate) -> Int? { firstIndex(of: delegate) }
}

/// Iterates over the delegates that are registered when the iteration begins, except those that are
/// removed before it reaches them. The iterator keeps the hub. It does not keep weak delegates
/// alive; a strong one that is removed in the meantime lives as long as the iterator.
///
/// The loop calls the delegates directly, so it ends the process at one that was added on a queue
/// or an actor, as `forEach(_:)` does: use `invoke`, or ``delegates`` to read the list. On the main
/// actor it may reach those that were added `on: .main`. It includes delegates that are blocked,
/// which `forEach(_:)` skips.
extension MulticastDelegate: Sequence {
  /// An iterator over the delegates of a hub. One thread may use it at a time.
  public struct Iterator: IteratorProtocol, Unreflected {
    private var entries: ContiguousArray<Entry?>.Iterator
    /// Keeps the hub, whose `deinit` removes the delegates: `for d in MulticastDelegate([a, b])`.
    private let hub: MulticastDelegate
    /// Whether it is for calls: then it skips blocked delegates, and prunes when it has met dead
    /// ones.
    private let isForCalls: Bool
    private var sawDead = false

    fileprivate init(_ hub: MulticastDelegate, isForCalls: Bool = false) {
      self.hub = hub
      self.isForCalls = isForCalls
      entries = hub.registry.snapshot().makeIterator()
    }

    /// The next delegate that is registered and alive, or `nil` if there is none.
    ///
    /// - Returns: the delegate, or `nil`.
    /// - Complexity: O(1), plus O(dead delegates and empty slots before it).
    public mutating func next() -> Delegate? {
      while let element = entries.next() {
        guard let entry = element else { continue }
        if !isForCalls || !entry.isBlocked,
          let delegate = entry.liveValue(as: Delegate.self, isCalled: true)
        {
          pruneIfNeeded()
          return delegate
        }
        if isForCalls && entry.isRegistered && entry.isDead { sawDead = true }
      }
      pruneIfNeeded()
      return nil
    }

    /// Not only at the end: the caller may have the answer that it needs before.
    private mutating func pruneIfNeeded() {
      guard sawDead else { return }
      sawDead = false
      hub.registry.pruneAfterInvocation()
    }
  }

  /// An iterator over the delegates that are registered now.
  ///
  /// - Returns: the iterator.
  /// - Complexity: O(1) with ``StorageStrategy/copyOnWrite``, ``StorageStrategy/readerWriterLock``
  ///   and ``StorageStrategy/barrierQueue``, which retain the list; otherwise O(`count`).
  public func makeIterator() -> Iterator {
    Iterator(self)
  }
}

// MARK: - Calls that suspend, for expanded code

extension MulticastDelegate {
  /// As ``makeIterator()``, without delegates that are blocked when the iterator reaches them.
  package func makeCallIterator() -> Iterator {
    Iterator(self, isForCalls: true)
  }

  /// A function for each delegate that is registered and alive now, which returns the delegate if
  /// that may still be called; and the actor on which to call it, if there is one. It does not keep
  /// a weak delegate alive.
  package func laterCallees() -> [(home: (any Actor)?, callee: @Sendable () -> Delegate?)] {
    var sawDead = false
    defer { if sawDead { registry.pruneAfterInvocation() } }
    return registry.snapshot().compactMap { element in
      guard let element else { return nil }
      let isPlaced = element.head.pointee.placedMailbox != nil
      // Now, because the function may run elsewhere: it cannot find out then whether the caller may
      // call a delegate with a place directly. So one that is blocked now is left out.
      guard !element.isBlocked || !isPlaced,
        element.liveValue(as: Delegate.self, isCalled: true) != nil
      else {
        if element.isRegistered && element.isDead { sawDead = true }
        return nil
      }
      // SAFETY: many threads may use an entry, though it cannot be declared Sendable: see `Entry`.
      nonisolated(unsafe) let entry = element
      // A delegate with a place that may be called directly belongs to the main actor.
      return (
        home: isPlaced ? MainActor.shared : nil,
        callee: { entry.isBlocked ? nil : entry.liveValue(as: Delegate.self, isCalled: false) }
      )
    }
  }
}
