/// A topic of which events are kept, or that subscribers read by its name.
///
/// ## Thread safety
/// Accessed inside the lock of its ``TopicLog`` alone.
final class KeptTopic {
  // SAFETY, of unchecked exclusivity: as of `TopicLog`.

  let name: String
  /// The number up to which the topic may have had events when it was not kept.
  @exclusivity(unchecked) private(set) var floor: UInt64
  @exclusivity(unchecked) var log: RetainedLog
  /// The number of events that have come since the topic is kept.
  @exclusivity(unchecked) var arrived = 0
  /// Its value when the numbers began anew.
  @exclusivity(unchecked) private(set) var arrivedAtBeginning = 0
  /// The ends of gaps in the numbers after which an event has come, each with the number of events
  /// that had come before. The newest ones; without readers, those that are not before the log: a
  /// later reader may begin before them.
  @exclusivity(unchecked) private var gapEnds = RingBuffer<(number: UInt64, arrived: Int)>()
  /// The number of events that its readers have missed because they were slow, by reader.
  @exclusivity(unchecked) var dropped = 0
  /// The readers, each with the index of this topic among its topics.
  @exclusivity(unchecked) private(set) var readers: [(cursor: TopicCursor, index: Int)] = []

  init(_ name: String, _ log: consuming RetainedLog) {
    self.name = name
    floor = log.trimmedThrough
    self.log = log
  }
}

extension KeptTopic {
  func add(_ cursor: TopicCursor, index: Int) {
    cursor.readerIndexes[index] = readers.count
    readers.append((cursor, index))
  }

  /// - Complexity: O(1).
  func remove(_ cursor: TopicCursor, index: Int) {
    let readerIndex = cursor.readerIndexes[index]
    let last = readers.removeLast()
    guard readerIndex < readers.count else { return }
    readers[readerIndex] = last
    last.cursor.readerIndexes[last.index] = readerIndex
  }

  /// Records that the next event follows a gap.
  ///
  /// - Parameters:
  ///   - number: the end of the newest gap.
  ///   - minimum: ends of gaps before this are not needed any more.
  func recordGap(through number: UInt64, forgetting minimum: UInt64) {
    guard gapEnds.isEmpty || gapEnds[gapEnds.count - 1].number < number else { return }
    let first = readers.isEmpty ? max(minimum, log.trimmedThrough) : minimum
    while !gapEnds.isEmpty, gapEnds[0].number < first { _ = gapEnds.popFirst() }
    gapEnds.append((number, arrived))
  }

  /// The number of events that had come up to `number`: one that has not left the log, that of the
  /// last event which has, or one where a gap begins or ends.
  func arrived(through number: UInt64) -> Int {
    guard log.trimmedThrough > number else { return arrived - log.count(after: number) }
    var first = gapEnds.count
    while first > 0, gapEnds[first - 1].number >= number { first -= 1 }
    return first < gapEnds.count ? gapEnds[first].arrived : arrived - log.count
  }

  /// Removes all events, because the numbers begin anew with those of `log`.
  func begin(_ log: consuming RetainedLog) {
    floor = log.trimmedThrough
    self.log = log
    arrivedAtBeginning = arrived
    while gapEnds.popFirst() != nil {}
    // A range without a number of events stands for what they have not read.
    for (cursor, index) in readers { cursor.skip(to: arrived, index: index) }
  }

  /// The number of events that a reader has not read that has read `seen` of those that came.
  ///
  /// - Parameter number: that of its place.
  func unread(after number: UInt64, seen: Int) -> Int {
    // A reader that is ahead of the log has events that are still to come.
    log.trimmedThrough <= number ? log.count(after: number) : arrived - seen
  }
}

/// An event of a topic, and its number.
@usableFromInline
struct TopicItem {
  @usableFromInline let topic: String
  @usableFromInline let number: UInt64
  @usableFromInline let envelope: Envelope
}
