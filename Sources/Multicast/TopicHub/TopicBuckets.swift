public import Synchronization

/// The buckets of a ``TopicTable``: a power of two of lists, each of which is replaced as a whole.
///
/// ## Thread safety
/// Reading is for any thread inside a read section of the table. Writing is for whoever holds the
/// lock of the table.
@usableFromInline
final class TopicBuckets<Topic: Hashable & Sendable, Event: Sendable>: @unchecked Sendable {
  // Sendable: the pointer never changes, and what it points at is atomic.
  @usableFromInline typealias Node = TopicNode<Topic, Event>
  /// Owns a retain of the first node of a bucket.
  @usableFromInline typealias Slot = Atomic<Unmanaged<Node>?>

  /// The number of buckets less one.
  @usableFromInline let mask: Int
  @usableFromInline let slots: UnsafeMutablePointer<Slot>

  init(count: Int) {
    mask = count - 1
    // SAFETY: freed by `deinit`; every slot is initialised here.
    slots = .allocate(capacity: count)
    for index in 0..<count { (slots + index).initialize(to: Slot(nil)) }
  }

  deinit {
    // Relaxed: nobody reads or writes any more.
    for index in 0...mask { slots[index].load(ordering: .relaxed)?.release() }
    slots.deallocate()
  }
}

extension TopicBuckets {
  /// The first node of the bucket of `hash`, which the read section of the caller keeps.
  @inlinable @inline(__always)
  func first(_ hash: Int) -> Unmanaged<Node>? {
    // Sequentially consistent: `ReadIndicator` and `TopicHub.finish` argue with the total order.
    slots[hash & mask].load(ordering: .sequentiallyConsistent)
  }

  /// The first node of a bucket, for whoever writes.
  subscript(index: Int) -> Node? {
    // Relaxed: only the caller changes it.
    slots[index].load(ordering: .relaxed)?.takeUnretainedValue()
  }

  /// Makes `first` the first node of a bucket.
  ///
  /// - Returns: the one that was; the slot's retain of it goes to the caller.
  func exchange(_ index: Int, for first: Node?) -> Node? {
    // Sequentially consistent: it unlinks the old node, and publishes the contents of the new one.
    slots[index].exchange(first.map(Unmanaged.passRetained), ordering: .sequentiallyConsistent)?
      .takeRetainedValue()
  }

  /// The same nodes in twice as many buckets.
  func doubled() -> TopicBuckets {
    let new = TopicBuckets(count: 2 * (mask + 1))
    for index in 0...mask {
      var candidate = self[index]
      while let node = candidate {
        let index = node.hash & new.mask
        _ = new.exchange(index, for: Node(node.hash, node.topic, node.channel, new[index]))
        candidate = node.next
      }
    }
    return new
  }
}
