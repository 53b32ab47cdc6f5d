/// Finds a value by a key of the user's, without running the user's `hash(into:)` or `==` under the
/// lock.
///
/// A hash table whose buckets are immutable lists. The hash is computed before the lock is taken.
/// Under the lock the list of a bucket is only fetched, or exchanged if it is still the one that
/// was looked through. Keys are compared in between, by whoever is looking; if the list has changed
/// meanwhile, they look again. A table that grows moves nodes by the hashes they keep.
///
/// ## Thread safety
/// Every operation may be called from any thread, also from inside `hash(into:)` and `==`.
final class TopicTable<Key: Hashable & Sendable, Value: AnyObject & Sendable>: @unchecked Sendable {
  // Sendable: `buckets` and `count` are touched inside `lock` alone; a node never changes.

  /// One key, and the rest of its bucket, which is short because the table grows.
  private final class Node: Sendable {
    let hash: Int
    let key: Key
    let value: Value
    let next: Node?

    init(_ hash: Int, _ key: Key, _ value: Value, _ next: Node?) {
      self.hash = hash
      self.key = key
      self.value = value
      self.next = next
    }
  }

  /// Held while a bucket is fetched or exchanged. No user code runs inside.
  private let lock = Lock()
  private var buckets: ContiguousArray<Node?> = ContiguousArray(repeating: nil, count: 8)
  private var entryCount = 0
}

extension TopicTable {
  /// How many keys there are.
  var count: Int { lock.withLock { entryCount } }

  /// The value for `key`.
  ///
  /// - Complexity: O(1) on average.
  func value(for key: Key) -> Value? {
    let hash = hash(key)
    return find(key, in: bucket(hash), hash)?.value
  }

  /// The value for `key`; if there is none, what `make` returns, which is kept from now on.
  ///
  /// - Complexity: amortised O(1) on average.
  func value(for key: Key, orInsert make: () -> Value) -> Value {
    let hash = hash(key)
    var made: Value?
    while true {
      let first = bucket(hash)
      if let found = find(key, in: first, hash) { return found.value }
      let value = made ?? make()
      made = value
      let node = Node(hash, key, value, first)
      if exchange(hash, first, for: node, countChange: 1) { return value }
    }
  }

  /// Removes `value`, if it is still the one for `key`.
  func remove(_ value: Value, for key: Key) {
    let hash = hash(key)
    while true {
      let first = bucket(hash)
      guard let found = find(key, in: first, hash), found.value === value else { return }
      if exchange(hash, first, for: list(first, without: found), countChange: -1) { return }
    }
  }

  /// Every key and value there is now, in no order.
  ///
  /// - Complexity: O(largest `count` so far): the table does not shrink.
  var all: [(key: Key, value: Value)] {
    let buckets = lock.withLock { self.buckets }
    var all: [(key: Key, value: Value)] = []
    for first in buckets {
      var candidate = first
      while let node = candidate {
        all.append((node.key, node.value))
        candidate = node.next
      }
    }
    return all
  }

  private func hash(_ key: Key) -> Int { key.hashValue }

  private func bucket(_ hash: Int) -> Node? {
    lock.withLock { buckets[hash & (buckets.count - 1)] }
  }

  private func find(_ key: Key, in first: Node?, _ hash: Int) -> Node? {
    var candidate = first
    while let node = candidate {
      if node.hash == hash && node.key == key { return node }
      candidate = node.next
    }
    return nil
  }

  private func list(_ first: Node?, without node: Node) -> Node? {
    guard let first else { return nil }
    if first === node { return first.next }
    return Node(first.hash, first.key, first.value, list(first.next, without: node))
  }

  /// Makes `new` the list of the bucket if `old` still is.
  private func exchange(_ hash: Int, _ old: Node?, for new: Node?, countChange: Int) -> Bool {
    let (isDone, garbage) = lock.withLock { () -> (Bool, ContiguousArray<Node?>) in
      let index = hash & (buckets.count - 1)
      guard buckets[index] === old else { return (false, []) }
      buckets[index] = new
      entryCount += countChange
      return (true, entryCount > buckets.count ? grow() : [])
    }
    withExtendedLifetime(garbage) {}  // The old nodes die here, outside the lock.
    return isDone
  }

  /// Doubles the number of buckets.
  ///
  /// - Returns: the old lists.
  private func grow() -> ContiguousArray<Node?> {
    let old = buckets
    let mask = old.count * 2 - 1
    buckets = ContiguousArray(repeating: nil, count: mask + 1)
    for first in old {
      var candidate = first
      while let node = candidate {
        let index = node.hash & mask
        buckets[index] = Node(node.hash, node.key, node.value, buckets[index])
        candidate = node.next
      }
    }
    return old
  }
}
