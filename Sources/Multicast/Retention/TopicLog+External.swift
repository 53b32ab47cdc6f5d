// A log whose events come from an external log, with their numbers.
//
//     external log ──▶ writer ──▶ deliver ──▶ log ──▶ readers
//                        ├──────▶ begin    the numbers begin anew: all that was kept is removed
//                        ├──────▶ skip     the external log does not have these events any more
//                        ├──────▶ mark     the positions that subscribers have named so far
//                        └──────▶ refuse   after a mark the external log had no later event
//
// A reader finds a beginning and a gap where its place in the order of numbers is, and reports them
// once.

extension TopicLog {
  /// Keeps an event that has its number.
  ///
  /// - Returns: whether it is newer than all before, and the hub has not finished; otherwise
  ///   nothing is done.
  func deliver(_ retained: RetainedEvent, number: UInt64, to topic: String) -> Bool {
    var garbage = RetainedLog.Garbage()
    return lock.withLock {
      guard !isClosed, numbering.hasBegun, number > newestNumber else { return false }
      append(retained, number: number, to: topic, &garbage)
      return true
    }
    // The garbage, and an event that is not kept, are destroyed here, outside the lock.
  }

  /// Begins after `number`, in another epoch. What was kept is not valid any more. After the hub
  /// has finished, nothing is done: subscribers still read what was sent before.
  func begin(epoch: UInt64, after number: UInt64) {
    var garbage = RetainedLog.Garbage()
    lock.withLock {
      guard !isClosed else { return }
      removeAll(beginningAfter: number, &garbage)
      // Others return to the beginning.
      let isFirst = !numbering.hasBegun
      for cursor in aheadReaders.values where !cursor.awaitsBeginning(of: epoch, isFirst: isFirst) {
        cursor.isAhead = false
      }
      numbering.begin(epoch: epoch, after: number)
    }
    // The garbage is destroyed here, outside the lock.
  }

  /// Continues after `number`: the external log has no events up to it any more, or the hub was
  /// blocked.
  ///
  /// - Parameter isOfBlock: see ``TopicNumbering/addGap(after:through:isOfBlock:)``.
  /// - Returns: whether that is a gap. After the hub has finished: `false`.
  func skip(through number: UInt64, isOfBlock: Bool) -> Bool {
    lock.withLock {
      guard !isClosed, numbering.hasBegun, number > newestNumber else { return false }
      numbering.addGap(after: newestNumber, through: number, isOfBlock: isOfBlock)
      newestNumber = number
      return true
    }
  }

  /// - Returns: a mark after the positions that subscribers have named so far.
  func markPositions() -> Int { lock.withLock { numbering.addMark() } }

  /// Refuses the positions after `newest` that subscribers named before `mark`.
  func refusePositions(after newest: UInt64, namedBefore mark: Int) {
    lock.withLock { numbering.addRefusal(after: newest, namedBefore: mark) }
  }
}
