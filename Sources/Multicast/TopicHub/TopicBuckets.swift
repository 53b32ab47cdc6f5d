public import Synchronization

/// The buckets of a ``TopicTable``: immutable lists, replaced as a whole. Their number is a power
/// of two.
///
/// ## Thread safety
/// Any thread may read, inside a read section of the table. A writer holds the lock of the table.
@usableFromInline
final class TopicBuckets<Topic: Hashable & Sendable, Event: Sendable>: @unchecked Sendable {
  // Sendable: the pointer never changes, and the slots are atomic.
  @usableFromInline typealias Node = TopicNode<Topic, Event>
  /// Owns a retain of the first node of a bucket.
  @usableFromInline typealias Slot = Atomic<Unmanaged<Node>?>

  /// The number of buckets minus one.
  @usableFromInline let mask: Int
  @usableFromInline let slots: UnsafeMutablePointer<Slot>

  init(count: Int) {
    mask = count - 1
    // SAFETY: freed by `deinit`; every slot is initialised here.
    slots = .allocate(capacity: count)
    for index in 0..<count { (slots + index).initialize(to: Slot(nil)) }
  }

  deinit {
    // Relaxed: no other thread has a reference.
    for index in 0...mask { slots[index].load(ordering: .relaxed)?.release() }
    slots.deallocate()
  }
}

extension TopicBuckets {
  /// The first node of the bucket of `hash`, which the caller's read section keeps alive.
  @inlinable @inline(__always)
  func first(_ hash: Int) -> Unmanaged<Node>? {
    // Sequentially consistent: `ReadIndicator` and `TopicHub.finish` rely on the total order.
    slots[hash & mask].load(ordering: .sequentiallyConsistent)
  }

  /// The first node of a bucket, for a writer.
  subscript(index: Int) -> Node? {
    // Relaxed: the caller holds the lock under which it changes, or has the only reference.
    // SAFETY: the slot owns a retain.
    slots[index].load(ordering: .relaxed)?.takeUnretainedValue()
  }

  /// Makes `first` the first node of a bucket.
  ///
  /// - Returns: the previous first node, with the retain of the slot.
  func exchange(_ index: Int, for first: Node?) -> Node? {
    // Sequentially consistent: it unlinks the old node, and publishes the contents of the new one.
    // SAFETY: the slot owned a retain.
    slots[index].exchange(first.map(Unmanaged.passRetained), ordering: .sequentiallyConsistent)?
      .takeRetainedValue()
  }

  /// New buckets, twice as many, with copies of all nodes.
  func doubled() -> TopicBuckets {
    let new = TopicBuckets(count: 2 * (mask + 1))
    for index in 0...mask {
      var candidate = self[index]
      while let node = candidate {
        let index = node.hash & new.mask
        _ = new.exchange(index, for: Node(node.hash, node.topic, node.hub, new[index]))
        candidate = node.next
      }
    }
    return new
  }
}
