import ConcurrencyStress
import Multicast
import Synchronization

/// Every thread subscribes to topics, sends single events and batches to them, and unsubscribes;
/// most topics are created and removed all the time. In some rounds a thread finishes the hub while
/// others may still use it.
enum Topics: Scenario {
  static let name = "topics"
  static let promise =
    "a topic's subscribers get its events and no others, and a topic is removed with the last of them"

  static func run(_ trial: Trial) {
    trial.runRounds { generator in
      TopicsRound(
        trial, operations: 16 << Int.random(in: 0..<6, using: &generator),
        finishes: generator.next().isMultiple(of: 2))
    }
  }
}

/// A topic whose hash collides.
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
  // Sendable: as for the superclass. `last` and `received` are accessed by the calls with events of
  // one thread, which that thread makes.
  private let trial: Trial
  private let topic: CrowdedTopic
  private let thread: Int
  /// The number of the newest event of its own thread.
  private(set) var last = 0
  /// How many events of its own thread came.
  private(set) var received = 0

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
    received += 1
  }
}

private final class TopicsRound: ScenarioRound, @unchecked Sendable {
  // Sendable: `left` is accessed by the first thread alone; the rest never changes or is atomic.
  private static let topics = 6
  /// Any thread may finish this one at any time.
  private static let unsafeTopic = CrowdedTopic(number: 0)
  /// An event has a number beyond those of all earlier events of its sender.
  private static let largestBatch = 8

  private let trial: Trial
  private let operations: Int
  /// Whether the first thread finishes the hub when it has done its operations.
  private let finishes: Bool
  private let hub: TopicHub<CrowdedTopic, TopicEvent>
  /// Raised before the hub finishes, and after it has.
  // Sequentially consistent: a thread that sees a flag not raised began before it was.
  private let isFinishing = Atomic(false)
  private let hasFinished = Atomic(false)
  /// What the first thread was subscribed to when it finished the hub.
  private var left: [CrowdedTopic: Membership] = [:]

  init(_ trial: Trial, operations: Int, finishes: Bool) {
    self.trial = trial
    self.operations = operations
    self.finishes = finishes
    hub = TopicHub(storage: trial.storage)
  }

  /// What one thread is subscribed to.
  private struct Membership {
    var target: TopicTarget
    /// Ends the subscription with its last reference; `nil` if the target owns the subscription.
    var subscription: EventSubscription?
  }

  func work(_ worker: inout Worker) {
    var mine: [CrowdedTopic: Membership] = [:]
    for step in 1...operations {
      let topic = CrowdedTopic(number: worker.pick(Self.topics))
      switch worker.pick(4) {
      case 0:
        if mine.removeValue(forKey: topic) == nil { mine[topic] = subscribe(&worker, to: topic) }
      case 1 where worker.once(in: 4):
        worker.begin("finish a topic")
        hub.finish(Self.unsafeTopic)
      default:
        send(&worker, step * Self.largestBatch, to: topic, mine[topic])
      }
    }
    if finishes && worker.index == 0 { finish(worker, mine) }
  }

  private func subscribe(_ worker: inout Worker, to topic: CrowdedTopic) -> Membership {
    worker.begin("subscribe")
    let target = TopicTarget(trial, topic, thread: worker.index)
    let hadFinished = hasFinished.load(ordering: .sequentiallyConsistent)
    if worker.once(in: 2) {
      let subscription = hub.subscribe(to: topic, with: target) { $0.receive($1) }
      expectEnd(subscription, hadFinished)
      return Membership(target: target)
    }
    let subscription = hub.subscribe(to: topic) { [weak target] in target?.receive($0) }
    expectEnd(subscription, hadFinished)
    return Membership(target: target, subscription: subscription)
  }

  private func expectEnd(_ subscription: EventSubscription, _ hadFinished: Bool) {
    trial.expect(
      !hadFinished || subscription.end == .finished, "a subscription began after the hub's end")
  }

  /// Sends an event, or a batch, and counts what came of it to the sender's own subscriber.
  private func send(
    _ worker: inout Worker, _ first: Int, to topic: CrowdedTopic, _ mine: Membership?
  ) {
    let hadFinished = hasFinished.load(ordering: .sequentiallyConsistent)
    let before = mine?.target.received ?? 0
    var count = 1
    if worker.once(in: 3) {
      worker.begin("send a batch")
      count = worker.pick(Self.largestBatch)
      let sender = worker.index
      hub.send(
        contentsOf: (first..<first + count).lazy.map {
          TopicEvent(topic: topic, sender: sender, number: $0)
        }, to: topic)
    } else {
      worker.begin("send")
      let event = TopicEvent(topic: topic, sender: worker.index, number: first)
      let reached = hub.send(event, to: topic)
      trial.expect(!hadFinished || reached == 0, "an event reached \(reached) after the hub's end")
      trial.expect(
        mine == nil || reached > 0 || mayEnd(topic),
        "an event reached no subscriber, though its sender is one")
    }
    guard let target = mine?.target else { return }
    // Events are numbered in steps of one within a batch, so the newest number tells which came.
    let received = target.received - before
    trial.expect(
      received == count || mayEnd(topic),
      "\(received) of \(count) events came to a subscriber of their topic")
    trial.expect(
      received == 0 || (received <= count && target.last == first + received - 1),
      "a batch came with gaps")
    trial.expect(!hadFinished || received == 0, "\(received) events came after the hub's end")
  }

  /// Whether a thread may have finished `topic` by now.
  private func mayEnd(_ topic: CrowdedTopic) -> Bool {
    topic == Self.unsafeTopic || isFinishing.load(ordering: .sequentiallyConsistent)
  }

  /// Finishes the hub: from now on no event reaches a subscriber.
  private func finish(_ worker: Worker, _ mine: [CrowdedTopic: Membership]) {
    worker.begin("finish the hub")
    isFinishing.store(true, ordering: .sequentiallyConsistent)
    hub.finish()
    hasFinished.store(true, ordering: .sequentiallyConsistent)
    left = mine
    for topic in mine.keys {
      let event = TopicEvent(topic: topic, sender: worker.index, number: .max)
      let reached = hub.send(event, to: topic)
      trial.expect(reached == 0, "an event reached \(reached) after the hub's end")
    }
  }

  func check() {
    for membership in left.values {
      let end = membership.subscription?.end ?? .finished
      trial.expect(end == .finished, "a subscription has not ended with the hub")
    }
    for number in 0..<Self.topics {
      // The next send finds a subscription whose owner has died.
      let topic = CrowdedTopic(number: number)
      let reached = hub.send(TopicEvent(topic: topic, sender: -1, number: 0), to: topic)
      trial.expect(reached == 0, "an event reached \(reached) subscribers that are gone")
      let subscription = hub.subscribe(to: topic) { _ in }
      trial.expect(
        subscription.end == (finishes ? .finished : nil),
        "a subscription of a hub that has\(finishes ? "" : " not") finished is otherwise")
    }
    trial.expect(hub.topicCount == 0, "\(hub.topicCount) topics are left without subscribers")
    trial.expect(hub.statistics.isEmpty, "there are statistics of topics that are gone")
  }
}
