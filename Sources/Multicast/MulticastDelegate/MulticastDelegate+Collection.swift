extension MulticastDelegate {
  /// The delegates that are registered and alive now, in registration order.
  ///
  /// The array keeps them alive. `reduce`, `reversed`, `allSatisfy` and so on come with it.
  ///
  /// - Complexity: O(`count`).
  public var delegates: [Delegate] { registry.live(as: Delegate.self) }

  /// How many registered delegates are alive. A dead one is never counted.
  ///
  /// - Complexity: O(`count`).
  public var count: Int { registry.liveCount(as: Delegate.self) }

  /// Whether no registered delegate is alive.
  ///
  /// - Complexity: O(1), and O(dead delegates and removed places in front). With
  ///   ``StorageStrategy/locked``, which copies the list, O(`count`).
  public var isEmpty: Bool { !registry.hasLive(as: Delegate.self) }

  /// The delegate at `index`, counting from zero in registration order, or `nil` if there is none.
  ///
  /// - Complexity: O(`index`), and O(dead delegates and removed places in front). With
  ///   ``StorageStrategy/locked``, which copies the list, O(`count`).
  public subscript(index: Int) -> Delegate? {
    guard index >= 0 else { return nil }
    var result: Delegate?
    var remaining = index
    registry.forEachValue(Delegate.self) { delegate in
      if remaining == 0 { result = delegate }
      remaining -= 1
      return remaining >= 0
    }
    return result
  }

  /// The index of `delegate` in registration order, or `nil` if it is not registered.
  ///
  /// - Complexity: O(`count`).
  public subscript(delegate: Delegate) -> Int? {
    guard let identity = Entry.identity(of: delegate) else { return nil }
    var index = 0
    var found = false
    registry.forEachValue(Delegate.self) { candidate in
      found = Entry.identity(of: candidate) == identity
      if !found { index += 1 }
      return !found
    }
    return found ? index : nil
  }
}

/// Iterates over the delegates that are registered when the iteration begins, less those that are
/// removed before their turn. The iterator keeps no weak delegate alive but the one it has just
/// returned; a strong one that is removed meanwhile lives as long as the iterator. It keeps the hub.
extension MulticastDelegate: Sequence {
  /// An iterator over the delegates of a hub. It belongs to one thread at a time.
  public struct Iterator: IteratorProtocol {
    private var entries: ContiguousArray<Entry?>.Iterator
    /// Kept, because a hub that goes removes its delegates: `for d in MulticastDelegate([a, b])`.
    private let hub: MulticastDelegate

    fileprivate init(_ hub: MulticastDelegate) {
      self.hub = hub
      entries = hub.registry.snapshot().makeIterator()
    }

    /// The next delegate that is registered and alive, or `nil` if there is none.
    ///
    /// - Complexity: O(1), and O(dead delegates and removed places in front of it).
    public mutating func next() -> Delegate? {
      while let element = entries.next() {
        if let entry = element, let delegate = entry.liveValue(as: Delegate.self) {
          return delegate
        }
      }
      return nil
    }
  }

  /// An iterator over the delegates that are registered now.
  ///
  /// - Complexity: O(`count`), and O(1) with the strategies of which an invocation retains the list.
  public func makeIterator() -> Iterator {
    Iterator(self)
  }

  /// Nothing is known about the number of delegates without counting them.
  public var underestimatedCount: Int { 0 }
}
