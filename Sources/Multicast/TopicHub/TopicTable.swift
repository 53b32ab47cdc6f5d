// The hubs of a `TopicHub` by topic: a hash table that readers search without a lock.
//
//     TopicTable.current ──▶ TopicBuckets: │ slot │ slot │ … │
//                                             │
//                                          TopicNode ──next──▶ TopicNode
//
// The lists are immutable. A writer searches a list as a reader does and makes a new one; under the
// lock it exchanges the list if that has not changed since. To grow, it makes new buckets with
// copies of all nodes.
//
// A slot owns the first node of its list, a node the next one, and `current` the buckets. A reader
// searches inside a read section of `reclaimer`, and what a writer exchanges is retired there: so
// what a reader has found stays alive until its read section ends.
//
// The user's `hash(into:)` and `==` never run under the lock. What a writer unlinks is retired
// after unlock.

public import Synchronization

/// Finds the hub of a topic.
///
/// ## Thread safety
/// Every operation may be called from any thread, also from inside `hash(into:)` and `==`.
@usableFromInline
final class TopicTable<Topic: Hashable & Sendable, Event: Sendable>: @unchecked Sendable {
  // Sendable: `current` is atomic; `entryCount` is accessed inside `lock` alone; the nodes do not
  // change until they are destroyed.
  @usableFromInline typealias Node = TopicNode<Topic, Event>
  @usableFromInline typealias Buckets = TopicBuckets<Topic, Event>

  @usableFromInline let current = Atomic(Unmanaged.passRetained(Buckets(count: 8)))
  @usableFromInline let reclaimer = Reclaimer()
  /// Guards writes to `current` and its slots, and `entryCount`. No user code runs inside.
  private let lock = Lock()
  private var entryCount = 0

  init() {}

  deinit {
    // Relaxed: no other thread has a reference.
    current.load(ordering: .relaxed).release()
  }
}

// MARK: - Reading

extension TopicTable {
  /// Runs `body` in a read section: what it finds stays alive until it returns.
  @inlinable @inline(__always)
  func read<R>(_ body: () -> R) -> R {
    reclaimer.withReadSection(structure, body)
  }

  /// The node of `topic`, whose hash value is `hash`, inside a read section.
  ///
  /// - Complexity: O(1) on average.
  @inlinable @inline(__always)
  func node(_ topic: Topic, _ hash: Int) -> Unmanaged<Node>? {
    perturb()
    // SAFETY: the read section keeps the buckets alive.
    return buckets._withUnsafeGuaranteedRef { Node.find(topic, hash, in: $0.first(hash)) }
  }

  /// The hub of `topic`.
  ///
  /// - Complexity: O(1) on average.
  @inlinable
  func hub(of topic: Topic) -> EventHub<Event>? {
    let hash = topic.hashValue
    // SAFETY: the read section keeps the node alive until its hub is retained.
    return read { node(topic, hash)?.takeUnretainedValue().hub }
  }

  /// The number of topics.
  var count: Int { lock.withLock { entryCount } }

  /// All topics with their hubs, in no order. Topics that are added or removed concurrently may
  /// be missing.
  ///
  /// - Complexity: O(largest `count` so far): the table does not shrink.
  var all: [(topic: Topic, hub: EventHub<Event>)] {
    read {
      // SAFETY: the read section keeps the buckets and the first nodes alive.
      let buckets = buckets.takeUnretainedValue()
      var all: [(topic: Topic, hub: EventHub<Event>)] = []
      for hash in 0...buckets.mask {
        var candidate = buckets.first(hash)?.takeUnretainedValue()
        while let node = candidate {
          all.append((node.topic, node.hub))
          candidate = node.next
        }
      }
      return all
    }
  }

  /// See `Reclaimer.Structure`.
  @inlinable var structure: UnsafeRawPointer {
    UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
  }

  @inlinable var buckets: Unmanaged<Buckets> {
    // Sequentially consistent: see `ReadIndicator`.
    current.load(ordering: .sequentiallyConsistent)
  }
}

// MARK: - Writing

extension TopicTable {
  /// The hub of `topic`; if there is none, inserts the one that `make` returns.
  ///
  /// - Complexity: amortised O(1) on average.
  func hub(of topic: Topic, orInsert make: () -> EventHub<Event>) -> EventHub<Event> {
    let hash = topic.hashValue
    var made: EventHub<Event>?
    while true {
      let first = bucket(hash)
      if let found = find(topic, hash, in: first) { return found.hub }
      let hub = made ?? make()
      made = hub
      if exchange(hash, first, for: Node(hash, topic, hub, first), countChange: 1) { return hub }
    }
  }

  /// Removes the hub of `topic` if `channel` is its state.
  ///
  /// - Parameter willRemove: called before, perhaps more than once.
  func remove(
    _ channel: TopicChannel<Topic, Event>, of topic: Topic,
    willRemove: (EventHub<Event>) -> Void = { _ in }
  ) {
    let hash = topic.hashValue
    while true {
      let first = bucket(hash)
      guard let found = find(topic, hash, in: first), found.hub.state === channel else { return }
      willRemove(found.hub)
      let rest = Node.list(first, without: found)
      if exchange(hash, first, for: rest, countChange: -1) { return }
    }
  }

  /// The first node of the bucket of `hash`, retained.
  private func bucket(_ hash: Int) -> Node? {
    // SAFETY: the read section keeps the buckets and the node alive until the node is retained.
    read { buckets._withUnsafeGuaranteedRef { $0.first(hash) }?.takeUnretainedValue() }
  }

  private func find(_ topic: Topic, _ hash: Int, in first: Node?) -> Node? {
    withExtendedLifetime(first) {
      Node.find(topic, hash, in: first.map(Unmanaged.passUnretained))?.takeUnretainedValue()
    }
  }

  /// Replaces the list of the bucket by `new` if it is still `old`.
  private func exchange(_ hash: Int, _ old: Node?, for new: Node?, countChange: Int) -> Bool {
    let (isDone, garbage) = lock.withLock { () -> (Bool, [AnyObject]) in
      // Relaxed: changes only under the lock.
      // SAFETY: `current` owns the buckets.
      let buckets = current.load(ordering: .relaxed).takeUnretainedValue()
      let index = hash & buckets.mask
      guard buckets[index] === old else { return (false, []) }
      var garbage: [AnyObject] = []
      if let unlinked = buckets.exchange(index, for: new) { garbage.append(unlinked) }
      entryCount += countChange
      if entryCount > buckets.mask {
        // Sequentially consistent: unlinks the old buckets, and publishes the new ones.
        let full = current.exchange(
          .passRetained(buckets.doubled()), ordering: .sequentiallyConsistent)
        garbage.append(full.takeRetainedValue())
      }
      return (true, garbage)
    }
    for object in garbage { reclaimer.retire(object, of: structure) }
    return isDone
  }
}
