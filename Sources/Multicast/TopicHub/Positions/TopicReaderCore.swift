/// What a ``TopicReader`` does whatever the type of the events is.
///
/// ## Thread safety
/// For the isolation of the reader only.
@usableFromInline
final class TopicReaderCore {
  let reader: TopicLogReader
  let notice: ReadNotice
  /// Why the subscription has ended, after everything was returned.
  private(set) var ending: SubscriptionEnd?
  /// Whether an external log is asked before anything is read.
  var isElsewhere: Bool
  /// Whether the last read has found everything that there was.
  private var isComplete = false
  /// The number of reads that have begun.
  private var reads = 0

  init(_ reader: TopicLogReader, _ notice: ReadNotice) {
    self.reader = reader
    self.notice = notice
    isElsewhere = reader.hasClaim
  }

  deinit {
    stop()
  }
}

extension TopicReaderCore {
  /// The most events that are read at once.
  private static var share: Int { 64 }

  @usableFromInline var epoch: UInt64 { reader.epoch }

  /// The place of the subscriber, if there is nothing to return before.
  var position: EventPosition? {
    guard !isElsewhere, !reader.hasRead, reader.hasBegun, !reader.hasClaim, ending != .cancelled
    else { return nil }
    return reader.position
  }

  /// The next event, if it comes before everything else.
  @usableFromInline
  func nextEvent() -> TopicItem? {
    // A cancellation by others discards what was read, as ``cancel()`` does.
    if notice.end == .cancelled, ending == nil { end(.cancelled) }
    return reader.nextEvent() ?? readEvent()
  }

  /// Whether something else is to be returned, asked for or, after a cancellation, discarded before
  /// an event.
  @usableFromInline
  var hasOther: Bool { isElsewhere || ending == nil && reader.hasMissing }

  /// Reads, and returns the first event that it has read.
  private func readEvent() -> TopicItem? {
    guard ending == nil, !hasOther else { return nil }
    if isComplete {
      isComplete = false
      if notice.beginWaiting() { return nil }
    }
    while true {
      notice.beginReading()
      let reason = notice.end
      guard reason != .cancelled else {
        end(.cancelled)
        return nil
      }
      reads &+= 1
      let number = reads
      let hasRead = reader.read(atMost: Self.share)
      // The `deinit` of an event that has left may have used the reader since, and ended it, or
      // found that an external log comes first.
      guard ending == nil, !isElsewhere else { return nil }
      if reader.hasRead {
        isComplete = reason == nil && reader.isComplete
        return reader.nextEvent()
      }
      // Or it has taken what was read, and something may have come since then.
      if hasRead || number != reads { continue }
      if let reason {
        end(reason)
        return nil
      }
      if notice.beginWaiting() { return nil }
    }
  }

  /// Prepares to wait for the answer of an external log, which `take` takes if it is there.
  ///
  /// - Returns: whether it was there.
  func waitForAnswer(_ take: () -> Bool) -> Bool {
    repeat {
      notice.beginReading()
      guard notice.end != .cancelled else {
        end(.cancelled)
        return false
      }
      if take() { return true }
    } while !notice.beginWaiting()
    return false
  }

  /// Ends the subscription, and discards what was read.
  func cancel() {
    stop()
    ending = ending ?? .cancelled
    reader.discardRead()
  }

  /// Nothing more is returned, and the subscription does not count any more.
  private func end(_ reason: SubscriptionEnd) {
    ending = reader.end(reason)
    stop()
    if reason == .cancelled { reader.discardRead() }
  }

  private func stop() {
    notice.silence()
    reader.stopReading()
  }
}
