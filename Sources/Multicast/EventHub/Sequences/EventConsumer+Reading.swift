extension EventConsumer {
  /// The next of the events that `cursor` has read, unless a range is to be reported before it, or
  /// the task or the subscription is cancelled.
  @usableFromInline
  func nextItem(_ cursor: LogCursor) -> RetainedItem? {
    guard cursor.hasRead, !isCancelled, let item = cursor.nextItem() else { return nil }
    mailbox.recordHandling()
    return item
  }

  /// The most events that are read at once, and returned without a suspension.
  static var readShare: Int { 256 }

  /// The next of what `reader` reads when events tell it to.
  ///
  /// - Parameter readSinceYield: the number of events that were read since the consumer last
  ///   yielded, and of other elements that were returned.
  /// - Returns: `nil` if the hub has finished and everything was returned, or if the task is
  ///   cancelled.
  func next<Reader: PositionReader>(
    _ reader: Reader, _ readSinceYield: inout Int, isolation: isolated (any Actor)? = #isolation
  ) async -> Reader.Element? {
    while await prepareRead(reader, &readSinceYield) {
      if let element = reader.nextRead() { return element }
    }
    return nil
  }

  /// Waits until `reader` has read something that was not returned, which a filter may still
  /// exclude.
  ///
  /// - Parameters:
  ///   - readSinceYield: see ``next(_:_:isolation:)``.
  ///   - share: the most events to read at once, at most ``readShare``.
  /// - Returns: `false` if the hub has finished and everything was returned, or if the task or the
  ///   subscription is cancelled.
  func prepareRead(
    _ reader: some PositionReader, _ readSinceYield: inout Int, share: Int = readShare,
    isolation: isolated (any Actor)? = #isolation
  ) async -> Bool {
    while !isCancelled {
      let hasRead = reader.hasRead
      // What was read counts already. But one read may find any number of missing ranges.
      if readSinceYield >= (hasRead ? 2 * Self.readShare : Self.readShare) {
        readSinceYield = reader.readCount
        await Task.yield()
        continue
      }
      if hasRead {
        mailbox.recordHandling()
        return true
      }
      if !reader.isAtGoal {
        reader.readToGoal(atMost: share)
      } else if !(await nextSignal(share)) {
        // After the end, everything is in the log, unless another task of the actor has read it.
        guard mailbox.end == .finished else { break }
        guard reader.hasRead || reader.read(atMost: share) else { break }
      }
      readSinceYield += reader.readCount
      mailbox.recordRead(reader.readCount)
    }
    // Either ends the subscription, unless the hub has ended it. A cancelled task also yields now
    // and then, as every request does.
    if isCancelled {
      // First: another task of the actor must not read on behind what this one discards.
      mailbox.recordCancellation(isOfTask: true)
      _ = await nextSignal(share)
    } else {
      stop()
    }
    reader.discardRead()
    return false
  }
}
