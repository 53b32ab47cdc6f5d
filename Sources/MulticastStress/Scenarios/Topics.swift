import Multicast
import MulticastTestSupport

/// Every thread subscribes to topics, sends to them, and leaves them; most topics come and go all
/// the time.
enum Topics: Scenario {
  static let name = "topics"
  static let promise =
    "a topic's subscribers get its events and no others, and a topic goes with the last of them"

  static func run(_ trial: Trial) {
    trial.runRounds(
      setUp: { generator in
        TopicsRound(trial, operations: 16 << Int.random(in: 0..<6, using: &generator))
      },
      work: { round, worker in round.work(&worker) },
      check: { round in round.check() })
  }
}

/// A topic whose hash says little.
struct CrowdedTopic: Hashable, Sendable {
  let number: Int

  func hash(into hasher: inout Hasher) { hasher.combine(number / 3) }
}

private struct TopicEvent: Sendable {
  let topic: CrowdedTopic
  let sender: Int
  let number: Int
}

/// A subscriber of one topic, on behalf of one thread.
private final class TopicTarget: Target, @unchecked Sendable {
  // Sendable: `last` is touched by the calls with events of one thread, which that thread makes;
  // for the rest as for the superclass.
  private let trial: Trial
  private let topic: CrowdedTopic
  private let thread: Int
  /// The number of the newest event of its own thread.
  private(set) var last = 0

  init(_ trial: Trial, _ topic: CrowdedTopic, thread: Int) {
    self.trial = trial
    self.topic = topic
    self.thread = thread
    super.init(0, trial.lifetimes)
  }

  func receive(_ event: TopicEvent) {
    noteCall()
    trial.expect(event.topic == topic, "an event of another topic came")
    guard event.sender == thread else { return }
    trial.expect(event.number > last, "\(event.number) came after \(last) of the same sender")
    last = event.number
  }
}

private final class TopicsRound: Sendable {
  private static let topics = 6
  /// Somebody may finish this one at any time.
  private static let unsafeTopic = CrowdedTopic(number: 0)

  private let trial: Trial
  private let operations: Int
  private let hub: TopicHub<CrowdedTopic, TopicEvent>

  init(_ trial: Trial, operations: Int) {
    self.trial = trial
    self.operations = operations
    hub = TopicHub(storage: trial.storage)
  }

  /// What one thread is subscribed to.
  private struct Membership {
    var target: TopicTarget
    /// Ends the subscription when it goes; otherwise the target does.
    var subscription: Subscription?
  }

  func work(_ worker: inout Worker) {
    var mine: [CrowdedTopic: Membership] = [:]
    for number in 1...operations {
      let topic = CrowdedTopic(number: worker.pick(Self.topics))
      switch worker.pick(4) {
      case 0:
        if mine.removeValue(forKey: topic) == nil { mine[topic] = subscribe(&worker, to: topic) }
      case 1 where worker.once(in: 4):
        worker.does("finish")
        hub.finish(Self.unsafeTopic)
      default:
        send(&worker, TopicEvent(topic: topic, sender: worker.index, number: number), mine[topic])
      }
    }
  }

  private func subscribe(_ worker: inout Worker, to topic: CrowdedTopic) -> Membership {
    worker.does("subscribe")
    let target = TopicTarget(trial, topic, thread: worker.index)
    if worker.once(in: 2) {
      hub.subscribe(to: topic, with: target) { $0.receive($1) }
      return Membership(target: target)
    }
    let subscription = hub.subscribe(to: topic) { [weak target] in target?.receive($0) }
    return Membership(target: target, subscription: subscription)
  }

  private func send(_ worker: inout Worker, _ event: TopicEvent, _ mine: Membership?) {
    worker.does("send")
    let reached = hub.send(event, to: event.topic)
    guard let mine, event.topic != Self.unsafeTopic else { return }
    trial.expect(
      mine.target.last == event.number && reached > 0,
      "a subscriber of a topic did not get an event that was sent to it")
  }

  func check() {
    for number in 0..<Self.topics {
      // An owner that took its subscription along is noticed by the next send.
      let topic = CrowdedTopic(number: number)
      let reached = hub.send(TopicEvent(topic: topic, sender: -1, number: 0), to: topic)
      trial.expect(reached == 0, "an event reached \(reached) subscribers that are gone")
    }
    trial.expect(hub.topicCount == 0, "\(hub.topicCount) topics are left without subscribers")
    trial.expect(hub.statistics.isEmpty, "there are statistics of topics that are gone")
  }
}
