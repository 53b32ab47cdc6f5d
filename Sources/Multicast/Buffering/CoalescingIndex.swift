/// The position in a mailbox of the newest event with each key.
///
/// Three closures around a table. They are created together with the policy, where the compiler can
/// specialise them for the type of the key.
///
/// ## Thread safety
/// One thread at a time, which ``Coalescer`` ensures.
@usableFromInline
struct CoalescingIndex<Event: Sendable>: Sendable {
  /// The last known position of an event with the key of this one. The event may have left.
  @usableFromInline let find: @Sendable (Event) -> Int?
  /// Records the position of the event last passed to `find`.
  ///
  /// - Returns: the number of keys in the index.
  @usableFromInline let record: @Sendable (Int) -> Int
  /// Removes the keys of events before this position.
  @usableFromInline let removeKeys: @Sendable (Int) -> Void

  @inlinable
  init<Key: Hashable & Sendable>(by key: @escaping @Sendable (Event) -> Key) {
    let table = CoalescingTable<Key>()
    find = { event in
      let key = key(event)
      table.last = key
      return table.positions[key]
    }
    record = { position in
      if let key = table.last { table.positions[key] = position }
      return table.positions.count
    }
    removeKeys = { front in table.positions = table.positions.filter { $0.value >= front } }
  }
}

@usableFromInline
final class CoalescingTable<Key: Hashable & Sendable>: @unchecked Sendable {
  // Sendable: only the closures above use it, on one thread at a time.
  @usableFromInline var positions: [Key: Int] = [:]
  /// The key of the event last passed to `find`.
  @usableFromInline var last: Key?

  @inlinable
  init() {}
}
