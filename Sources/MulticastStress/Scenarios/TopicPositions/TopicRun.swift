/// What one subscriber of topics received from its beginning to its end.
struct TopicRun: Sendable {
  enum Element: Sendable, Equatable {
    case event(TopicHistory.Event, at: UInt64)
    /// `topic`: `nil` for all topics of the subscriber.
    case missed(after: UInt64, through: UInt64, topic: Int?, count: Int?)
  }

  /// With which event a subscriber begins.
  enum Start: Sendable, Equatable {
    /// The first one after this position.
    case after(UInt64)
    /// The next one.
    case live
    /// The oldest one that is retained.
    case retained
  }

  enum End: Sendable, Equatable {
    /// The subscriber left.
    case left
    /// Too many events waited.
    case disconnected
    /// It has received everything.
    case finished
  }

  /// What a subscriber requests.
  struct Request: Sendable {
    /// The indexes of its topics.
    var topics: Set<Int>
    /// Whether it has patterns; otherwise it has the names of its topics.
    var hasPatterns = false
    var start: Start
    /// The most events with which it begins.
    var startLimit = Int.max
    /// How many events may wait until the oldest of them are dropped.
    var limit = Int.max
  }

  let request: Request
  /// When it began, the newest event had one of these positions.
  let began: ClosedRange<UInt64>
  var end = End.left
  /// Each element, and the position of the newest event when it was received, or later.
  private(set) var elements: [(element: Element, newest: UInt64)] = []

  init(_ request: Request, began: ClosedRange<UInt64>) {
    self.request = request
    self.began = began
  }

  mutating func receive(_ element: Element, newest: UInt64) { elements.append((element, newest)) }

  /// The position after which the subscriber goes on when it comes back; `nil` if it knows none.
  var last: UInt64? {
    for (element, _) in elements.reversed() {
      switch element {
      case .event(_, at: let number): return number
      case .missed(_, let through, _, _):
        // Of several topics, other ones may have events in the range.
        if request.topics.count == 1, !request.hasPatterns { return through }
      }
    }
    if case .after(let number) = request.start { return number }
    return nil
  }

  /// The number of events that it was told that it missed.
  var missedCount: Int {
    elements.reduce(0) { sum, received in
      guard case .missed(_, _, _, let count?) = received.element else { return sum }
      return sum + count
    }
  }

  /// What must not have happened, if anything.
  ///
  /// - Complexity: O(events and elements), if few ranges are missing.
  func violation(in history: TopicHistory) -> String? {
    var check = TopicRunCheck(self, history)
    for (element, newest) in elements {
      switch element {
      case .event(let event, at: let number): check.receive(event, at: number, newest)
      case .missed(let after, let through, let topic, let count):
        check.miss(after, through, topic, count, newest)
      }
    }
    check.finish()
    return check.violation
  }
}
