import ConcurrencyStress
import Multicast

/// Every thread publishes to topics of a hub that retains few events, and subscribers of one topic,
/// of several, or of patterns come late, are too slow, leave, and come back after their last
/// position.
enum TopicPositions: Scenario {
  static let name = "topic-positions"
  static let promise =
    "each subscriber of topics gets every event after its start once, in order, or exactly what is "
    + "missing"

  static func run(_ trial: Trial) {
    trial.runRounds { generator in
      TopicPositionsRound(
        trial, operations: 8 << Int.random(in: 0..<6, using: &generator),
        TopicHistory.Limits(
          perTopic: [1, 2, 5, 50, 10_000].randomElement(using: &generator)!,
          total: [1, 4, 30, 200, .max].randomElement(using: &generator)!,
          bytes: [3, 40, 500, .max, .max].randomElement(using: &generator)!),
        isSteady: generator.next().isMultiple(of: 3),
        finishesAtOnce: generator.next().isMultiple(of: 2), &generator)
    }
  }
}

private final class TopicPositionsRound: ScenarioRound {
  private typealias Plan = TopicFollower.Plan

  private let trial: Trial
  private let operations: Int
  private let limits: TopicHistory.Limits
  /// Whether all subscribers stay until the hub finishes.
  private let isSteady: Bool
  /// Whether the hub finishes before the subscribers have everything.
  private let finishesAtOnce: Bool
  private let hub: TopicFollower.Hub
  private let residents: [TopicFollower]
  /// Subscribers that came while events were sent.
  private let guests: PerThread<[TopicFollower]>
  /// The position of each event of a thread, and the index of its topic.
  private let sent: PerThread<[(position: UInt64, topic: Int)]>

  init(
    _ trial: Trial, operations: Int, _ limits: TopicHistory.Limits, isSteady: Bool,
    finishesAtOnce: Bool, _ generator: inout SplitMix64
  ) {
    self.trial = trial
    self.operations = operations
    self.limits = limits
    self.isSteady = isSteady
    self.finishesAtOnce = finishesAtOnce
    let bytes = Retention<Payload>.bytes(limits.bytes) { TopicHistory.size(of: $0.number) }
    let total = limits.total == .max ? Retention<Payload>.all : .last(limits.total)
    hub = TopicFollower.Hub(
      retention: .last(limits.perTopic), total: total.and(bytes), storage: trial.storage)
    var followers: [TopicFollower] = []
    for _ in 0..<5 {
      let plan = Plan(isSteady: isSteady, from: nil, using: &generator)
      followers.append(TopicFollower(hub, plan, SplitMix64(seed: generator.next())))
    }
    residents = followers
    guests = PerThread(repeating: [], threads: trial.threads)
    sent = PerThread(repeating: [], threads: trial.threads)
  }

  func work(_ worker: inout Worker) {
    let mine = worker.pick(Plan.names.count)
    for number in 1...operations {
      worker.begin("publish")
      // More often to one topic, so that others are older.
      let topic = worker.once(in: 2) ? mine : worker.pick(Plan.names.count)
      let payload = Payload(number, from: worker.index, trial.lifetimes)
      let position = hub.publish(payload, to: Plan.names[topic])!
      sent[worker.index].append((position.number, topic))
      switch worker.pick(16) {
      case 0 where guests[worker.index].count < 4: addGuest(&worker)
      case 1 where !isSteady:
        worker.begin("interrupt")
        residents[worker.pick(residents.count)].interrupt()
      case 2:
        worker.begin("count")
        let amount = hub.retainedAmount
        let isWithin =
          amount.events <= limits.total && amount.bytes <= limits.bytes
          && amount.topics <= Plan.names.count
        trial.expect(isWithin, "\(amount) were retained, and the limits are \(limits)")
        _ = hub.statistics
      default: break
      }
    }
  }

  /// Adds a subscriber that comes late, some with a position that the hub does not have.
  private func addGuest(_ worker: inout Worker) {
    worker.begin("subscribe")
    let newest = hub.newestPosition
    let start: TopicRun.Start? =
      worker.once(in: 2) ? .after(newest.number / UInt64(1 + worker.pick(3))) : nil
    var plan = Plan(isSteady: isSteady, from: start, using: &worker.generator)
    switch worker.pick(8) {
    case 0:
      plan.wrongPosition = EventPosition(epoch: newest.epoch ^ 1, number: UInt64(worker.pick(99)))
    case 1:
      let number = newest.number + 1_000_000
      plan.wrongPosition = EventPosition(epoch: newest.epoch, number: number)
    default: break
    }
    guests[worker.index].append(
      TopicFollower(hub, plan, SplitMix64(seed: worker.generator.next())))
  }

  func check() {
    guard let history = history() else { return }
    let followers = residents + guests.all.joined()
    if !finishesAtOnce { waitForEverything(followers, history) }
    hub.finish()
    for follower in followers { expectEnd(of: follower, history) }
    let dropped = followers.flatMap(\.runs).reduce(0) { $0 + $1.missedCount }
    trial.expect(
      isSteady ? hub.droppedEvents == dropped : hub.droppedEvents >= dropped,
      "\(hub.droppedEvents) events were dropped, and \(dropped) reported")
    expectRetained(history)
    trial.expect(hub.topicCount == 0, "\(hub.topicCount) topics are left without subscribers")
  }

  /// What was sent; `nil` if positions are missing.
  private func history() -> TopicHistory? {
    var events: [TopicHistory.Event?] = Array(
      repeating: nil, count: trial.threads * operations + 1)
    for (sender, sent) in sent.all.enumerated() {
      for (index, (position, topic)) in sent.enumerated() where position < events.count {
        events[Int(position)] = TopicHistory.Event(
          topic: topic, sender: sender, number: index + 1)
      }
    }
    let all = events.dropFirst().compactMap { $0 }
    guard all.count == trial.threads * operations else {
      trial.fail("\(all.count) of \(trial.threads * operations) positions were there")
      return nil
    }
    return TopicHistory(all, limits)
  }

  /// Waits until each subscriber has all that was sent.
  private func waitForEverything(_ followers: [TopicFollower], _ history: TopicHistory) {
    // A finish would signal those that a sender forgot.
    var rest = followers[...]
    var lack = ""
    trial.wait(for: "a subscriber did not get everything: \(lack)") {
      while let follower = rest.first {
        // Kept for the message: the subscriber may have everything when that is made.
        guard let missing = follower.lack(in: history) else {
          rest.removeFirst()
          continue
        }
        lack = missing
        return false
      }
      return true
    }
  }

  private func expectEnd(of follower: TopicFollower, _ history: TopicHistory) {
    trial.wait(for: "a subscription did not end") { follower.isOver }
    if let strange = follower.strange { trial.fail(strange) }
    for run in follower.runs {
      if let violation = run.violation(in: history) { trial.fail(violation) }
    }
    trial.expect(
      follower.runs.last?.end == .finished, "a subscription has not ended with the hub")
  }

  /// Checks what the hub retains at the end, and that a subscriber gets exactly that.
  private func expectRetained(_ history: TopicHistory) {
    let topics = Set(history.retained.map { history.event(at: $0)!.topic })
    let amount = hub.retainedAmount
    trial.expect(
      amount.events == history.retained.count && amount.bytes == history.retainedBytes
        && Set(hub.retainedTopics) == Set(topics.map { Plan.names[$0] }),
      "\(amount) are retained where \(history.retained.count) are expected")
    for (patterns, wanted) in Plan.patterns {
      var plan = Plan(request: TopicRun.Request(topics: wanted, start: .retained))
      plan.patterns = patterns
      plan.request.hasPatterns = true
      let late = TopicFollower(hub, plan, SplitMix64(seed: 0))
      expectEnd(of: late, history)
      let received = late.runs[0].elements.map(\.element)
      let expected = history.retained.map { TopicRun.Element.event(history.event(at: $0)!, at: $0) }
        .filter { element in
          guard case .event(let event, _) = element else { return false }
          return wanted.contains(event.topic)
        }
      trial.expect(received == expected, "a late subscriber got other events than are retained")
    }
  }
}
