/// Where in a mailbox the newest event with each key is, or was.
///
/// Three closures around a table: they are made where the policy is made, so that they are
/// specialised there with the type of the key.
///
/// ## Thread safety
/// None: one thread at a time. ``Coalescer`` sees to that.
@usableFromInline
struct CoalescingIndex<Event: Sendable>: Sendable {
  /// Where the newest event with the key of this one is, or was.
  @usableFromInline let find: @Sendable (Event) -> Int?
  /// Notes where the event is that was looked for last.
  ///
  /// - Returns: how many keys are known.
  @usableFromInline let note: @Sendable (Int) -> Int
  /// Forgets the keys of events that were in front of this position.
  @usableFromInline let forget: @Sendable (Int) -> Void

  @inlinable
  init<Key: Hashable & Sendable>(by key: @escaping @Sendable (Event) -> Key) {
    let table = CoalescingTable<Key>()
    find = { event in
      let key = key(event)
      table.last = key
      return table.positions[key]
    }
    note = { position in
      if let key = table.last { table.positions[key] = position }
      return table.positions.count
    }
    forget = { front in table.positions = table.positions.filter { $0.value >= front } }
  }
}

@usableFromInline
final class CoalescingTable<Key: Hashable & Sendable>: @unchecked Sendable {
  // Sendable: its only users are the closures above, which run on one thread at a time.
  @usableFromInline var positions: [Key: Int] = [:]
  /// The key of the event that was looked for last.
  @usableFromInline var last: Key?

  @inlinable
  init() {}
}
