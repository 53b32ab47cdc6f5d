/// What knows whether a topic of a log has ended. A later topic with the same name has another.
///
/// ## Thread safety
/// Any thread may read the end. It is set inside the lock of the log.
protocol EndingTopic: AnyObject {
  /// What the log had when the topic was finished; `nil` before.
  var topicEnd: TopicEnd? { get }

  /// The topic is about to end. Later calls do nothing.
  func recordEnd(_ end: TopicEnd)
}

/// The newest event of a log when a topic was finished.
final class TopicEnd: Sendable, Comparable {
  /// How many times the numbers of the log had begun.
  let beginning: Int
  let number: UInt64

  init(beginning: Int, number: UInt64) {
    self.beginning = beginning
    self.number = number
  }

  static func == (left: TopicEnd, right: TopicEnd) -> Bool {
    (left.beginning, left.number) == (right.beginning, right.number)
  }

  static func < (left: TopicEnd, right: TopicEnd) -> Bool {
    (left.beginning, left.number) < (right.beginning, right.number)
  }
}
