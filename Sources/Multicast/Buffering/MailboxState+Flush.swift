// Flushes of a mailbox: each waits until every element pending at its start is done.

extension MailboxState {
  /// Begins a flush of everything pending now, including the elements of senders that wait.
  ///
  /// - Returns: whether `latch` must be counted down later; `false` if nothing is pending.
  mutating func flush(_ latch: FlushLatch) -> Bool {
    let position = front + waiting.count + parked.count
    if isDone(position) { return false }
    flushes.append((position, latch))
    return true
  }

  /// Ends the flush of `latch`, which will not be counted down. The caller keeps `latch` alive, so
  /// that it is not destroyed here.
  mutating func withdraw(_ latch: FlushLatch) {
    flushes.removeAll { $0.latch === latch }
  }

  /// The number of elements that the first flush waits for, at least 1: the consumer takes no more
  /// at once, so that no flush waits for elements that arrived after it began.
  var shareOfFirstFlush: Int {
    flushes.first.map { max(1, $0.position - front) } ?? .max
  }

  /// Adapts the flushes to the removal of the parked element at `offset` from the first one.
  mutating func closeGap(atParked offset: Int) {
    let position = front + waiting.count + offset
    for index in flushes.indices where flushes[index].position > position {
      flushes[index].position -= 1
    }
  }

  /// Adapts the flushes to the insertion of an element at `position`, before those that are parked.
  mutating func makeGap(at position: Int) {
    for index in flushes.indices where flushes[index].position > position {
      flushes[index].position += 1
    }
  }

  /// Whether everything before `position` was delivered, dropped or discarded, or waits for the end
  /// of a block.
  private func isDone(_ position: Int) -> Bool {
    if inFlight == 0 && isBlocked { return true }
    return (inFlight == 0 || isAbandoned ? front : inFlightStart) >= position
  }

  mutating func takeCompletedFlushes() -> [FlushLatch] {
    guard !flushes.isEmpty else { return [] }
    // They are in the order of their positions.
    let done = flushes.prefix { isDone($0.position) }
    flushes.removeFirst(done.count)
    return done.map(\.latch)
  }
}
