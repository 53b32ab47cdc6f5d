extension EventSubscription: Hashable {
  /// Whether both are the same handle.
  ///
  /// - Parameters:
  ///   - first: a handle.
  ///   - second: another handle.
  /// - Returns: whether they are the same object.
  /// - Complexity: O(1).
  public static func == (first: EventSubscription, second: EventSubscription) -> Bool {
    first === second
  }

  /// Hashes the identity of the handle.
  ///
  /// - Parameter hasher: what receives it.
  /// - Complexity: O(1).
  public func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(self))
  }
}

extension EventSubscription {
  /// Puts the handle into `subscriptions`: the subscription ends, at the latest, with that set.
  ///
  /// ```swift
  /// var subscriptions: Set<EventSubscription> = []
  /// hub.subscribe { show($0) }.store(in: &subscriptions)
  /// ```
  ///
  /// - Parameter subscriptions: the owner of the handle from now on.
  /// - Complexity: amortised O(1).
  public func store(in subscriptions: inout Set<EventSubscription>) {
    subscriptions.insert(self)
  }

  /// Appends the handle to `subscriptions`, for example an array: the subscription ends, at the
  /// latest, with that collection.
  ///
  /// - Parameter subscriptions: the owner of the handle from now on.
  /// - Complexity: that of `append`.
  public func store(in subscriptions: inout some RangeReplaceableCollection<EventSubscription>) {
    subscriptions.append(self)
  }
}
