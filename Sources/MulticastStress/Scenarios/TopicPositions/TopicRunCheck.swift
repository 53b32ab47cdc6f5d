/// The oracle for what one subscriber of topics received: follows it element by element.
///
/// It must get each event of its topics after its start once, in order, or a range that has it. A
/// range has no event that comes, its count is exact, and it has only events that had left the hub,
/// or that more newer ones followed than may wait.
struct TopicRunCheck {
  private struct Range {
    let after: UInt64
    let through: UInt64
    let topic: Int?
    /// The position of the newest event when it was received, or later.
    let newest: UInt64
    /// If so many newer events wait, an event may be missing.
    let limit: Int

    func contains(_ number: UInt64) -> Bool { after < number && number <= through }
  }

  private let run: TopicRun
  private let history: TopicHistory
  /// The number of events of the subscriber's topics up to each position.
  private let wantedThrough: [Int]
  /// Each event of the topics up to this one was received, or is missing, or need not come.
  private var checked: UInt64
  /// The position of the last event.
  private var last: UInt64
  private var received: Set<UInt64> = []
  private var ranges: [Range] = []
  /// What was wrong first.
  private(set) var violation: String?

  init(_ run: TopicRun, _ history: TopicHistory) {
    self.run = run
    self.history = history
    var counts = [0]
    for event in history.events {
      counts.append(counts.last! + (run.request.topics.contains(event.topic) ? 1 : 0))
    }
    wantedThrough = counts
    switch run.request.start {
    case .after(let number): (last, checked) = (number, number)
    case .live: (last, checked) = (run.began.lowerBound, run.began.upperBound)
    case .retained: (last, checked) = (0, 0)
    }
  }

  private mutating func fail(_ message: String) { violation = violation ?? message }
}

// MARK: - Elements

extension TopicRunCheck {
  mutating func receive(_ event: TopicHistory.Event, at number: UInt64, _ newest: UInt64) {
    guard violation == nil else { return }
    guard history.event(at: number) == event, number <= newest else {
      return fail("event \(number) is another one")
    }
    guard run.request.topics.contains(event.topic) else {
      return fail("event \(number) is of another topic")
    }
    guard number > last else { return fail("event \(number) came after \(last)") }
    beginChecks(after: number - 1)
    expectAll(through: number - 1)
    let isMissing = ranges.contains { range in
      let isItsTopic = range.topic.map { $0 == event.topic } ?? !run.request.hasPatterns
      return isItsTopic && range.contains(number)
    }
    if isMissing { fail("event \(number) came, and was reported as missing") }
    if number <= run.began.lowerBound, history.hasLeft(number, by: run.began.lowerBound) {
      fail("event \(number) came though it was not retained any more")
    }
    checked = max(checked, number)
    last = number
    received.insert(number)
  }

  mutating func miss(
    _ after: UInt64, _ through: UInt64, _ topic: Int?, _ count: Int?, _ newest: UInt64
  ) {
    guard violation == nil else { return }
    let range = "\(after)-\(through) of \(topic.map(String.init) ?? "all")"
    guard after < through, through <= newest, newest <= history.newest else {
      return fail("\(range) was missing when \(newest) was the newest")
    }
    guard topic.map(run.request.topics.contains) ?? true else {
      return fail("\(range), another topic, was missing")
    }
    let reported = ranges.last {
      $0.topic == topic || ($0.topic == nil && !run.request.hasPatterns)
    }
    if after < max(last, reported?.through ?? 0) {
      fail("\(range) was missing after event \(last) and range \(reported?.through ?? 0)")
    }
    if let count {
      let exact = history.events[Int(after)..<Int(through)].count { $0.topic == topic }
      if count != exact { fail("\(range) has \(exact) events, and \(count) were missing") }
    } else if !run.request.hasPatterns, !received.isEmpty {
      fail("\(range) was missing without a count")
    }
    beginChecks(after: after)
    let limit = min(run.request.limit, received.isEmpty ? run.request.startLimit : .max)
    ranges.append(
      Range(after: after, through: through, topic: topic, newest: newest, limit: limit))
  }

  /// A subscriber without a position has begun before its first element.
  private mutating func beginChecks(after number: UInt64) {
    if ranges.isEmpty && received.isEmpty { checked = min(checked, max(number, last)) }
  }
}

// MARK: - Events that did not come

extension TopicRunCheck {
  /// Checks what can be checked when the last element is known.
  mutating func finish() {
    guard violation == nil else { return }
    switch run.end {
    case .left: break
    case .finished: expectAll(through: history.newest)
    case .disconnected:
      if wanted(after: last, through: history.newest) == 0 {
        fail("a subscriber that missed nothing was disconnected")
      }
    }
    for range in ranges { expectGone(range) }
    let begun = received.count { $0 <= run.began.lowerBound }
    if begun > run.request.startLimit {
      fail("\(begun) retained events came where \(run.request.startLimit) were requested")
    }
  }

  /// Checks that each event of the topics up to `number` was received or is missing.
  private mutating func expectAll(through number: UInt64) {
    guard number > checked else { return }
    for next in checked + 1...number where isWanted(next) && !received.contains(next) {
      let topic = history.event(at: next)?.topic
      let isMissing = ranges.contains {
        ($0.topic == nil || $0.topic == topic) && $0.contains(next)
      }
      if !isMissing && !isBeforeStart(next) { fail("event \(next) did not come") }
    }
    checked = number
  }

  /// Checks that the missing events of a range were not retained, or that more newer ones waited
  /// than the limit says.
  private mutating func expectGone(_ range: Range) {
    for number in range.after + 1...range.through where isWanted(number) {
      let isItsTopic = range.topic == nil || range.topic == history.event(at: number)?.topic
      guard isItsTopic, !received.contains(number), !isBeforeStart(number) else { continue }
      if !history.hasLeft(number, by: range.newest),
        wanted(after: number, through: range.newest) < range.limit
      {
        fail("event \(number) was retained, and reported as missing")
      }
    }
  }

  private func isWanted(_ number: UInt64) -> Bool {
    wantedThrough[Int(number)] > wantedThrough[Int(number) - 1]
  }

  /// The number of events of the topics in a range.
  private func wanted(after number: UInt64, through last: UInt64) -> Int {
    last > number ? wantedThrough[Int(last)] - wantedThrough[Int(number)] : 0
  }

  /// Whether the subscriber begins with what is retained, and that may begin after this event.
  private func isBeforeStart(_ number: UInt64) -> Bool {
    guard run.request.start == .retained, number <= run.began.upperBound else { return false }
    return history.hasLeft(number, by: run.began.upperBound)
      || wanted(after: number, through: run.began.upperBound) >= run.request.startLimit
  }
}
