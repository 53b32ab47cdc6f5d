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
