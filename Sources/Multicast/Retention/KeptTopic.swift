/// A topic of which events are kept, or that subscribers read by its name.
///
/// ## Thread safety
/// Accessed inside the lock of its ``TopicLog`` alone.
final class KeptTopic {
  let name: String
  /// The number up to which the topic may have had events when it was not kept.
  var floor: UInt64
  var log: RetainedLog
  /// The number of events that have come since the topic is kept.
  var arrived = 0
  /// The number of events that its readers have missed because they were slow, by reader.
  var dropped = 0
  /// The readers, each with the index of this topic among its topics.
  private(set) var readers: [(cursor: TopicCursor, index: Int)] = []

  init(_ name: String, _ log: consuming RetainedLog) {
    self.name = name
    floor = log.trimmedThrough
    self.log = log
  }
}

extension KeptTopic {
  func add(_ cursor: TopicCursor, index: Int) {
    cursor.places[index] = readers.count
    readers.append((cursor, index))
  }

  /// - Complexity: O(1).
  func remove(_ cursor: TopicCursor, index: Int) {
    let place = cursor.places[index]
    let last = readers.removeLast()
    guard place < readers.count else { return }
    readers[place] = last
    last.cursor.places[last.index] = place
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
