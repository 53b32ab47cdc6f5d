/// Flushes of a queue, each of which waits until everything before its position is done.
///
/// ## Thread safety
/// None: the lock of the queue guards it.
struct PositionedFlushes {
  /// In the order of their positions.
  private var flushes: [(position: Int, latch: FlushLatch)] = []

  var isEmpty: Bool { flushes.isEmpty }

  /// - Parameter position: not less than that of any earlier flush.
  mutating func add(_ latch: FlushLatch, at position: Int) {
    flushes.append((position, latch))
  }

  /// Removes `latch`. The caller keeps it alive, so that it is not destroyed here.
  mutating func withdraw(_ latch: FlushLatch) {
    flushes.removeAll { $0.latch === latch }
  }

  /// Removes the flushes that are complete when everything before `position` is done. Count them
  /// down outside the lock.
  mutating func takeCompleted(before position: Int) -> [FlushLatch] {
    let done = flushes.prefix { $0.position <= position }
    flushes.removeFirst(done.count)
    return done.map(\.latch)
  }
}
