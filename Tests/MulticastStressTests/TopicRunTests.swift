import Testing

@testable import MulticastStress

/// What the oracle for the subscribers of topics accepts, and what it refuses.
///
/// The events, by position: 0 in topic 0, 1 in topic 1, 2 in topic 0, and so on. The hub retains
/// two events of each topic.
@Suite struct TopicRunTests {
  private typealias Element = TopicRun.Element

  private let history = TopicHistory(
    (1...10).map { TopicHistory.Event(topic: ($0 + 1) % 2, sender: 0, number: $0) },
    TopicHistory.Limits(perTopic: 2))

  private func event(_ position: UInt64) -> Element {
    .event(history.event(at: position)!, at: position)
  }

  private func missed(_ after: UInt64, _ through: UInt64, _ topic: Int? = 0, _ count: Int? = nil)
    -> Element
  {
    .missed(after: after, through: through, topic: topic, count: count)
  }

  private func violation(
    _ request: TopicRun.Request, began: ClosedRange<UInt64> = 0...0, end: TopicRun.End = .finished,
    _ elements: Element...
  ) -> String? {
    var run = TopicRun(request, began: began)
    for element in elements {
      switch element {
      case .event(_, at: let position): run.receive(element, newest: max(position, 6))
      case .missed(_, let through, _, _): run.receive(element, newest: max(through, 10))
      }
    }
    run.end = end
    return run.violation(in: history)
  }

  private let one = TopicRun.Request(topics: [0], start: .after(0))
  private let both = TopicRun.Request(topics: [0, 1], start: .after(6))

  @Test func theHistoryKnowsWhatIsRetained() {
    #expect(history.retained == [7, 8, 9, 10])
    #expect(history.hasLeft(3, by: 7) && !history.hasLeft(3, by: 6) && !history.hasLeft(7, by: 10))
    let few = TopicHistory(history.events, TopicHistory.Limits(perTopic: 2, total: 3))
    #expect(few.retained == [8, 9, 10] && few.hasLeft(7, by: 10) && !few.hasLeft(7, by: 9))
    let bytes = TopicHistory(history.events, TopicHistory.Limits(bytes: 8))
    // The sizes are 2, 3, 4, 5, 6, 7, 1, 2, 3, 4.
    #expect(bytes.retained == [9, 10] && bytes.retainedBytes == 7)
  }

  @Test func eachEventOnceOrTheRangeThatIsMissing() {
    #expect(violation(one, event(1), event(3), event(5), event(7), event(9)) == nil)
    #expect(violation(one, missed(0, 5), event(7), event(9)) == nil)
    #expect(violation(one, event(1), missed(1, 5, 0, 2), event(7), event(9)) == nil)
    #expect(violation(one, event(1), missed(2, 5, 0, 2), event(7), event(9)) == nil)
    #expect(violation(both, event(7), event(8), event(9), event(10)) == nil)
    #expect(violation(one, end: .left, event(1)) == nil)
    #expect(violation(one, end: .disconnected, event(1), event(3)) == nil)
    // A range of one topic may go beyond an event of another one.
    var begun = both
    begun.start = .after(0)
    #expect(
      violation(
        begun, missed(0, 5), missed(0, 4, 1), event(6), event(7), event(8), event(9), event(10))
        == nil)
  }

  @Test func whereItBegins() {
    var live = one
    live.start = .live
    #expect(violation(live, began: 4...6, event(5), event(7), event(9)) == nil)
    #expect(violation(live, began: 4...6, event(7), event(9)) == nil)
    #expect(violation(live, began: 4...6, event(9)) != nil)
    #expect(violation(live, began: 4...6, event(3), event(5), event(7), event(9)) != nil)
    var retained = one
    retained.start = .retained
    #expect(violation(retained, began: 8...8, event(5), event(7), event(9)) == nil)
    #expect(violation(retained, began: 8...9, event(7), event(9)) == nil)
    #expect(violation(retained, began: 8...8, event(7), event(9)) != nil)
    #expect(violation(retained, began: 8...8, event(3), event(5), event(7), event(9)) != nil)
    retained.startLimit = 1
    #expect(violation(retained, began: 8...8, event(7), event(9)) == nil)
    #expect(violation(retained, began: 8...8, event(5), event(7), event(9)) != nil)
  }

  @Test func gapsDuplicatesAndWrongOrderAreRefused() {
    #expect(violation(one, event(1), event(3), event(5), event(7)) != nil)
    #expect(violation(one, event(1), event(5), event(7), event(9)) != nil)
    #expect(violation(one, event(1), event(1), event(3), event(5), event(7), event(9)) != nil)
    #expect(violation(one, event(3), event(1), event(5), event(7), event(9)) != nil)
    #expect(violation(both, event(8), event(9), event(10)) != nil)
    #expect(violation(one, event(1), event(2), event(3), event(5), event(7), event(9)) != nil)
    let other = TopicHistory.Event(topic: 0, sender: 0, number: 3)
    #expect(violation(one, end: .left, .event(other, at: 1)) != nil)
    let all = [event(1), event(3), event(5), event(7), event(9)]
    #expect(violation(one, end: .disconnected, all[0], all[1], all[2], all[3], all[4]) != nil)
  }

  @Test func wrongRangesAndCountsAreRefused() {
    for (after, through, topic, count) in [
      (1, 5, 0, 3), (1, 5, 0, 1), (1, 5, 0, nil), (0, 5, 0, 3), (1, 1, 0, 0), (1, 5, 1, 2),
      (1, 7, 0, 3), (1, 12, 0, 5),
    ] as [(UInt64, UInt64, Int?, Int?)] {
      let range = missed(after, through, topic, count)
      #expect(violation(one, event(1), range, event(7), event(9)) != nil)
    }
    // Two ranges that overlap; one that was retained; one with an event that comes.
    #expect(violation(one, missed(0, 5), missed(3, 5, 0, 1), event(7), event(9)) != nil)
    #expect(violation(one, missed(0, 7), event(9)) != nil)
    #expect(violation(one, missed(0, 5), event(5), event(7), event(9)) != nil)
  }

  @Test func aLimitDropsNoMoreThanItSays() {
    var limited = one
    limited.limit = 1
    #expect(violation(limited, event(1), missed(1, 7, 0, 3), event(9)) == nil)
    limited.limit = 2
    #expect(violation(limited, event(1), missed(1, 7, 0, 3), event(9)) != nil)
    var begun = one
    begun.startLimit = 1
    #expect(violation(begun, missed(0, 7), event(9)) == nil)
    begun.startLimit = 2
    #expect(violation(begun, missed(0, 7), event(9)) != nil)
  }

  @Test func patternsHaveOneRangeForAllTopicsThatAreGone() {
    var patterns = TopicRun.Request(topics: [0, 1], start: .after(0))
    #expect(
      violation(
        patterns, missed(0, 6, nil), event(5), event(6), event(7), event(8), event(9), event(10))
        != nil)
    patterns.hasPatterns = true
    #expect(
      violation(
        patterns, missed(0, 6, nil), event(5), event(6), event(7), event(8), event(9), event(10))
        == nil)
    #expect(
      violation(patterns, event(1), missed(1, 6, nil), event(7), event(8), event(9), event(10))
        == nil)
  }

  @Test func aSubscriberGoesOnAfterItsLastPosition() {
    func last(_ request: TopicRun.Request, _ elements: Element...) -> UInt64? {
      var run = TopicRun(request, began: 0...0)
      for element in elements { run.receive(element, newest: 10) }
      return run.last
    }
    #expect(last(one) == 0 && last(one, event(3)) == 3)
    #expect(last(one, event(3), missed(3, 7, 0, 2)) == 7)
    #expect(last(both, event(7), missed(7, 9, 0, 1)) == 7)
    #expect(last(TopicRun.Request(topics: [0], start: .live)) == nil)
  }
}
