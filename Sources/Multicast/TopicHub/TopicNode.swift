public import CMulticast

/// One topic, its room, and the rest of its bucket, which is short because the table grows.
@usableFromInline
final class TopicNode<Topic: Hashable & Sendable, Event: Sendable>: Sendable {
  @usableFromInline let hash: Int
  @usableFromInline let topic: Topic
  /// The hub in `room`, so that a sender need not look into the room.
  @usableFromInline let hub: EventHub<Event>
  @usableFromInline let next: TopicNode?
  // A delivery reads the one through the other. A sender asks for both at once.
  @usableFromInline let registry: Unmanaged<Registry>
  @usableFromInline let published: Unmanaged<PublishedSlots>?
  let room: Room<Topic, Event>

  init(_ hash: Int, _ topic: Topic, _ room: Room<Topic, Event>, _ next: TopicNode?) {
    self.hash = hash
    self.topic = topic
    self.room = room
    self.next = next
    hub = room.hub
    registry = .passUnretained(hub.registry)
    published = hub.registry.published
  }
}

extension TopicNode {
  /// Hands `event` to every subscriber.
  @inlinable @inline(__always)
  func send(_ event: Event) -> Int {
    cmulticast_prefetch(registry.toOpaque(), 0)
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
    // SAFETY: the caller keeps the first node, and each node keeps the next one.
    while let node = candidate {
      let isFound = node._withUnsafeGuaranteedRef { $0.hash == hash && $0.topic == topic }
      if isFound { return node }
      candidate = node._withUnsafeGuaranteedRef { $0.next.map(Unmanaged.passUnretained) }
    }
    return nil
  }

  /// The bucket that begins with `first`, without `node`.
  static func list(_ first: TopicNode?, without node: TopicNode) -> TopicNode? {
    guard let first else { return nil }
    if first === node { return first.next }
    return TopicNode(first.hash, first.topic, first.room, list(first.next, without: node))
  }
}
