internal import Synchronization

/// How many elements of its batch a consumer has delivered that its ``MailboxState`` does not count
/// yet.
///
/// ## Thread safety
/// See each operation.
struct BatchCount: ~Copyable, Sendable {
  // Relaxed: one writer, so a load and a store suffice. Together with the count of the state it is
  // changed and read under the lock of that.
  private let count = Atomic<Int>(0)

  /// Called by the consumer alone.
  @inline(__always)
  func add(_ delivered: Int) {
    count.store(count.load(ordering: .relaxed) + delivered, ordering: .relaxed)
  }

  /// The count, for the state, once. Called by the consumer alone, inside the lock of the state.
  func take() -> Int {
    let delivered = count.load(ordering: .relaxed)
    count.store(0, ordering: .relaxed)
    return delivered
  }

  /// The count. Read inside the lock of the state, by any thread.
  var value: Int { count.load(ordering: .relaxed) }
}
