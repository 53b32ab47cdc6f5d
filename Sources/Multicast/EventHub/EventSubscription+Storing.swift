extension EventSubscription: Hashable {
  /// Whether both are the same handle.
  public static func == (first: EventSubscription, second: EventSubscription) -> Bool {
    first === second
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(self))
  }
}

extension EventSubscription {
  /// Puts the handle into `subscriptions`: the subscription ends, at the latest, with that set.
  ///
  /// ```swift
  /// private var subscriptions: Set<EventSubscription> = []
  /// hub.subscribe { … }.store(in: &subscriptions)
  /// ```
  ///
  /// - Complexity: amortised O(1).
  public func store(in subscriptions: inout Set<EventSubscription>) {
    subscriptions.insert(self)
  }

  /// Appends the handle to `subscriptions`, for example an array: the subscription ends, at the
  /// latest, with that collection.
  ///
  /// - Complexity: that of `append`.
  public func store(in subscriptions: inout some RangeReplaceableCollection<EventSubscription>) {
    subscriptions.append(self)
  }
}
