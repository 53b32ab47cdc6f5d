public import CMulticast

/// One topic, its hub, and the next node of its bucket.
@usableFromInline
final class TopicNode<Topic: Hashable & Sendable, Event: Sendable>: Sendable {
  @usableFromInline let hash: Int
  @usableFromInline let topic: Topic
  @usableFromInline let hub: EventHub<Event>
  // SAFETY: only `deinit` changes it, of this node or of a node with the only reference to this
  // one. No other thread has this node then.
  @exclusivity(unchecked) @usableFromInline nonisolated(unsafe) private(set) var next: TopicNode?
  /// Prefetched by senders, because a delivery reads the entries.
  @usableFromInline let published: Unmanaged<WaitFreeStorage>?

  init(_ hash: Int, _ topic: Topic, _ hub: EventHub<Event>, _ next: TopicNode?) {
    self.hash = hash
    self.topic = topic
    self.hub = hub
    self.next = next
    published = hub.registry.published
  }

  /// Destroys the following nodes in a loop, up to one that is referenced elsewhere: nested
  /// releases would exhaust the stack if many topics had the same hash value.
  deinit {
    var rest = next
    next = nil
    while rest != nil, isKnownUniquelyReferenced(&rest) {
      let following = rest?.next
      rest?.next = nil
      rest = following
    }
  }
}

extension TopicNode {
  /// Delivers `event` to every subscriber.
  @inlinable @inline(__always)
  func send(_ event: Event) -> Int {
    cmulticast_prefetch(published?.toOpaque(), 0)
    return hub.send(event)
  }

  /// The node of `topic` in the bucket that begins with `first`.
  ///
  /// Runs the user's `==`.
  @inlinable @inline(__always)
  static func find(
    _ topic: Topic, _ hash: Int, in first: Unmanaged<TopicNode>?
  ) -> Unmanaged<TopicNode>? {
    var candidate = first
    // SAFETY: the caller keeps the first node alive, and each node the next one.
    while let node = candidate {
      let isFound = node._withUnsafeGuaranteedRef { $0.hash == hash && $0.topic == topic }
      if isFound { return node }
      candidate = node._withUnsafeGuaranteedRef { $0.next.map(Unmanaged.passUnretained) }
    }
    return nil
  }

  /// The bucket that begins with `first`, without `node`.
  static func list(_ first: TopicNode?, without node: TopicNode) -> TopicNode? {
    var preceding: [TopicNode] = []
    var candidate = first
    while let current = candidate, current !== node {
      preceding.append(current)
      candidate = current.next
    }
    var list = candidate?.next
    for node in preceding.reversed() { list = TopicNode(node.hash, node.topic, node.hub, list) }
    return list
  }
}
