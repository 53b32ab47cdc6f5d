import ConcurrencyStress
import Dispatch
import Multicast

/// A subscriber of topics that comes back after the last position each time it has left, until the
/// hub finishes.
final class TopicFollower: Sendable {
  typealias Hub = TopicHub<String, Payload>

  /// What receives its events.
  enum Receiver: CaseIterable, Sendable {
    case sequence
    /// A `TopicReader`.
    case reader
    /// A handler that senders call; without a limit of its own.
    case handler
    /// A handler on a queue, likewise.
    case handlerOnQueue
  }

  /// How it subscribes, and how it behaves.
  struct Plan: Sendable {
    /// The topics that there are.
    static let names = ["a.x", "a.y", "b.x", "b.y", "c"]
    /// Patterns, and the indexes of the topics that they match.
    static let patterns: [(patterns: [TopicPattern], topics: Set<Int>)] = [
      (["a.*"], [0, 1]), (["*.x", "c"], [0, 2, 4]), (["b.>", "b.y"], [2, 3]),
      ([">"], [0, 1, 2, 3, 4]),
    ]

    var request: TopicRun.Request
    /// If it has any; otherwise it has the names of its topics.
    var patterns: [TopicPattern] = []
    /// A position that the hub does not have, with which it begins the first time.
    var wrongPosition: EventPosition?
    var buffering = BufferingPolicy<Payload>.unbounded
    var receiver = Receiver.sequence
    /// After how many events it leaves.
    var stay = Int.max
    /// The most times that it yields after each element.
    var pace = 0
  }

  private struct Content {
    var runs: [TopicRun] = []
    /// The current iteration.
    var task: Task<TopicRun.End, Never>?
    /// What came in place of the element that says that there is no such position.
    var strange: String?
    var isOver = false
  }

  let plan: Plan
  private let content = Guarded(Content())

  /// Begins to follow.
  ///
  /// - Parameter generator: for the time that it takes.
  init(_ hub: Hub, _ plan: Plan, _ generator: SplitMix64) {
    self.plan = plan
    Task { [weak hub] in
      var generator = generator
      var position = plan.wrongPosition
      while hub != nil {
        let (start, seed) = (position, generator.next())
        let task = Task { [weak hub] in
          await self.visit(hub, after: start, SplitMix64(seed: seed))
        }
        self.content.withLock { $0.task = task }
        let end = await task.value
        self.content.withLock { content in
          content.runs[content.runs.count - 1].end = end
          content.task = nil
        }
        if end == .finished { break }
        position = self.next(of: hub)
        for _ in 0..<Int.random(in: 0..<8, using: &generator) { await Task.yield() }
      }
      self.content.withLock { $0.isOver = true }
    }
  }

  var isOver: Bool { content.withLock { $0.isOver } }
  var runs: [TopicRun] { content.withLock { $0.runs } }
  var strange: String? { content.withLock { $0.strange } }

  /// What it still has to get when all events were sent, if anything.
  func lack(in history: TopicHistory) -> String? {
    let (run, strange) = content.withLock { ($0.runs.last, $0.strange) }
    guard strange == nil, var run else { return strange == nil ? "it has not begun" : nil }
    run.end = .finished
    return run.violation(in: history)
  }

  /// Cancels the current iteration.
  func interrupt() { content.withLock { $0.task }?.cancel() }

  /// Where it goes on; `nil`: as it has begun.
  private func next(of hub: Hub?) -> EventPosition? {
    guard let hub, let last = content.withLock({ $0.runs.last?.last }) else { return nil }
    return EventPosition(epoch: hub.newestPosition.epoch, number: last)
  }

  /// Subscribes, and iterates until the end or as long as it stays.
  ///
  /// When it returns, it keeps neither the hub nor events.
  private func visit(
    _ hub: Hub?, after position: EventPosition?, _ generator: SplitMix64
  ) async -> TopicRun.End {
    guard let (source, wrong) = begin(hub, after: position) else { return .finished }
    let end = await read(source, wrong, generator) { [weak hub] in hub?.newestPosition }
    await source.stop()
    return end
  }

  /// - Returns: what has the events, and the position, if it is not one of the hub.
  private func begin(
    _ hub: Hub?, after position: EventPosition?
  ) -> (TopicSource, EventPosition?)? {
    guard let hub else { return nil }
    var request = plan.request
    let before = hub.newestPosition
    var wrong: EventPosition?
    if let position {
      request.start = .after(position.number)
      if position.epoch != before.epoch || position.number > before.number {
        // What is retained, or what comes after the newest one.
        request.start = position.epoch != before.epoch ? .retained : .live
        wrong = position
      }
    }
    let source = source(of: hub, request, after: position)
    let run = TopicRun(request, began: before.number...hub.newestPosition.number)
    content.withLock { $0.runs.append(run) }
    return (source, wrong)
  }

  private func source(
    of hub: Hub, _ request: TopicRun.Request, after position: EventPosition?
  ) -> TopicSource {
    let limit = request.startLimit
    let start: SubscriptionStart
    switch request.start {
    case _ where position != nil: start = .after(position!, atMost: limit)
    case .after(let number):
      let epoch = hub.newestPosition.epoch
      start = .after(EventPosition(epoch: epoch, number: number), atMost: limit)
    case .live: start = .live
    case .retained: start = limit < .max ? .last(limit) : .retained
    }
    let names = request.topics.map { Plan.names[$0] }
    switch plan.receiver {
    case .sequence:
      if !plan.patterns.isEmpty {
        return TopicSource(hub.events(matching: plan.patterns, from: start))
      }
      return TopicSource(
        names.count == 1
          ? hub.events(for: names[0], from: start, buffering: plan.buffering)
          : hub.events(for: names + [names[0]], from: start, buffering: plan.buffering))
    case .reader:
      return TopicSource(readerOf: { readable in
        if let position, plan.patterns.isEmpty, limit == .max {
          return hub.reader(
            for: names, continuingAfter: position, buffering: plan.buffering,
            whenReadable: readable)
        }
        return plan.patterns.isEmpty
          ? hub.reader(
            for: names, from: start, buffering: plan.buffering, whenReadable: readable)
          : hub.reader(matching: plan.patterns, from: start, whenReadable: readable)
      })
    case .handler:
      return TopicSource(handlerOf: { handler in
        plan.patterns.isEmpty
          ? hub.subscribe(to: names, from: start, on: .sender, handler)
          : hub.subscribe(matching: plan.patterns, from: start, on: .sender, handler)
      })
    case .handlerOnQueue:
      let queue = DispatchQueue(label: "handler")
      return TopicSource(
        on: queue,
        handlerOf: { handler in
          plan.patterns.isEmpty
            ? hub.subscribe(to: names, from: start, on: queue, handler)
            : hub.subscribe(matching: plan.patterns, from: start, on: queue, handler)
        })
    }
  }

  private func read(
    _ source: TopicSource, _ wrong: EventPosition?, _ generator: SplitMix64,
    newest: () -> EventPosition?
  ) async -> TopicRun.End {
    var generator = generator
    var source = source
    var rest = plan.stay
    var wrong = wrong
    while let element = await source.next() {
      guard let newest = newest() else { return .left }
      if let position = wrong.take() {
        expectNotice(element, position, newest)
      } else {
        receive(element, newest)
      }
      for _ in 0..<Int.random(in: 0...plan.pace, using: &generator) { await Task.yield() }
      // Only an event takes a subscriber of several topics further.
      if element.event != nil { rest -= 1 }
      if rest == 0 { return .left }
    }
    if Task.isCancelled { return .left }
    if wrong != nil { content.withLock { $0.strange = "a wrong position was accepted" } }
    return source.end == .disconnected ? .disconnected : .finished
  }

  private func receive(_ element: PositionedTopicEvent<Payload>, _ newest: EventPosition) {
    let received: TopicRun.Element
    switch element {
    case .event(let event, at: let position):
      received = .event(
        TopicHistory.Event(
          topic: Plan.names.firstIndex(of: event.topic)!, sender: event.event.sender,
          number: event.event.number), at: position.number)
    case .missed(let range, of: let topic):
      received = .missed(
        after: range.after.number, through: range.through.number,
        topic: topic.map { Plan.names.firstIndex(of: $0)! }, count: range.count)
    }
    content.withLock { $0.runs[$0.runs.count - 1].receive(received, newest: newest.number) }
  }

  /// Checks the first element of a subscriber with a position that the hub does not have.
  private func expectNotice(
    _ element: PositionedTopicEvent<Payload>, _ wrong: EventPosition, _ newest: EventPosition
  ) {
    if case .missed(let range, of: nil) = element, range.after == wrong, range.count == nil,
      range.through.epoch == newest.epoch, range.through.number <= newest.number
    {
      return
    }
    content.withLock { $0.strange = "position \(wrong) was not reported: \(element)" }
  }
}

// MARK: - Plans

extension TopicFollower.Plan {
  /// A random one.
  ///
  /// - Parameter isSteady: whether it stays until the hub finishes.
  init(isSteady: Bool, from start: TopicRun.Start?, using generator: inout SplitMix64) {
    let starts: [TopicRun.Start] = [.live, .retained, .after(0)]
    request = TopicRun.Request(
      topics: [], start: start ?? starts.randomElement(using: &generator)!)
    pace = [0, 1, 20].randomElement(using: &generator)!
    receiver = TopicFollower.Receiver.allCases.randomElement(using: &generator)!
    if !isSteady {
      stay = [1, 10, 100, .max].randomElement(using: &generator)!
      if request.start != .live {
        request.startLimit = [0, 3, .max, .max].randomElement(using: &generator)!
      }
    }
    if Int.random(in: 0..<4, using: &generator) == 0 {
      let choice = Self.patterns.randomElement(using: &generator)!
      request.topics = choice.topics
      request.hasPatterns = true
      patterns = choice.patterns
      return
    }
    let count = [1, 1, 2, 3].randomElement(using: &generator)!
    request.topics = Set(Self.names.indices.shuffled(using: &generator).prefix(count))
    guard receiver == .sequence || receiver == .reader else { return }
    let limit = [1, 2, 9, 300].randomElement(using: &generator)!
    switch Int.random(in: 0..<4, using: &generator) {
    case 0, 1:
      request.limit = limit
      buffering = limit == 1 ? .latest : .bounded(limit, whenFull: .dropOldest)
    case 2 where !isSteady: buffering = .bounded(limit, whenFull: .disconnect)
    default: break
    }
  }
}
