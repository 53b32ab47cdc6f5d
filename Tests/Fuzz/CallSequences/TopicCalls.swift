import ConcurrencyStress
import Multicast

/// Calls of a `TopicHub`, compared with a table of lists.
public enum TopicCalls: CallSequence {
  public static let name = "topics"

  public static func run(_ bytes: [UInt8]) -> String? {
    var run = TopicRun(bytes)
    return run.perform()
  }
}

/// What one subscriber has received, and should have.
private final class Subscriber {
  let topic: Int
  let received = Holder<[Int]>([])
  var expected: [Int] = []
  var isActive = true
  var subscription: EventSubscription?
  /// Its owner, if it has one.
  var owner: Owner?

  init(topic: Int) { self.topic = topic }
}

private final class Owner: Sendable {}

/// A topic whose hash collides with that of others.
private struct Topic: Hashable, Sendable {
  let number: Int

  func hash(into hasher: inout Hasher) { hasher.combine(number % 3) }
}

private struct TopicRun {
  private var bytes: CallBytes
  private let hub: TopicHub<Topic, Int>
  private var subscribers: [Subscriber] = []
  private var events = 0
  private var isFinished = false
  private var violation: String?

  init(_ bytes: [UInt8]) {
    var bytes = CallBytes(bytes)
    hub = TopicHub(
      ordering: Ordering.allCases[bytes.next(Ordering.allCases.count)],
      storage: StorageStrategy.allCases[bytes.next(StorageStrategy.allCases.count)])
    self.bytes = bytes
  }

  mutating func perform() -> String? {
    while !bytes.isEmpty && violation == nil {
      act()
      compare()
    }
    for subscriber in subscribers { subscriber.subscription?.cancel() }
    if hub.topicCount != 0 { fail("\(hub.topicCount) topics are left without subscribers") }
    return violation
  }

  private mutating func fail(_ message: String) {
    if violation == nil { violation = message }
  }

  private func active(_ topic: Int) -> [Subscriber] {
    subscribers.filter { $0.isActive && $0.topic == topic }
  }

  private mutating func act() {
    let topic = bytes.next(9)
    switch bytes.next(12) {
    case 0, 1, 2: subscribe(topic)
    case 3: subscribeOwned(topic)
    case 4, 5, 6: send(topic)
    case 7: sendBatch(topic)
    case 8, 9: cancel()
    case 10: finish(topic)
    default:
      guard bytes.next(16) == 0 else { return }
      hub.finish()
      isFinished = true
      for subscriber in subscribers { subscriber.isActive = false }
    }
  }

  private mutating func subscribe(_ topic: Int) {
    guard subscribers.count < 24 else { return }
    let subscriber = Subscriber(topic: topic)
    subscriber.subscription = hub.subscribe(to: Topic(number: topic)) {
      [received = subscriber.received] in
      received.value?.append($0)
    }
    subscriber.isActive = !isFinished
    subscribers.append(subscriber)
  }

  private mutating func subscribeOwned(_ topic: Int) {
    guard subscribers.count < 24 else { return }
    let subscriber = Subscriber(topic: topic)
    let owner = Owner()
    subscriber.owner = owner
    subscriber.subscription = hub.subscribe(to: Topic(number: topic), with: owner) {
      [received = subscriber.received] _, event in
      received.value?.append(event)
    }
    subscriber.isActive = !isFinished
    subscribers.append(subscriber)
  }

  private mutating func send(_ topic: Int) {
    events += 1
    let receivers = active(topic)
    for subscriber in receivers { subscriber.expected.append(events) }
    let reached = hub.send(events, to: Topic(number: topic))
    if reached != receivers.count { fail("\(reached) were reached, not \(receivers.count)") }
  }

  private mutating func sendBatch(_ topic: Int) {
    let batch = (1...3).map { events + $0 }
    events += 3
    for subscriber in active(topic) { subscriber.expected += batch }
    hub.send(contentsOf: batch, to: Topic(number: topic))
  }

  private mutating func cancel() {
    guard !subscribers.isEmpty else { return }
    let subscriber = subscribers.remove(at: bytes.next(subscribers.count))
    if subscriber.owner != nil, bytes.next(2) == 0 {
      subscriber.owner = nil  // The subscription ends with it, at the latest at the next event.
      let topic = subscriber.topic
      subscriber.subscription = nil
      hub.send(0, to: Topic(number: topic))
      for other in active(topic) { other.expected.append(0) }
    } else {
      subscriber.subscription?.cancel()
    }
    check(subscriber)
  }

  private mutating func finish(_ topic: Int) {
    for subscriber in active(topic) { subscriber.isActive = false }
    hub.finish(Topic(number: topic))
  }

  private mutating func check(_ subscriber: Subscriber) {
    let received = subscriber.received.value ?? []
    if received != subscriber.expected {
      fail("topic \(subscriber.topic): \(received) came, not \(subscriber.expected)")
    }
  }

  private mutating func compare() {
    for subscriber in subscribers { check(subscriber) }
    let topics = Set(subscribers.filter(\.isActive).map(\.topic))
    if hub.topicCount != topics.count { fail("\(hub.topicCount) topics, not \(topics.count)") }
    for topic in 0..<9 {
      let count = hub.subscriberCount(for: Topic(number: topic))
      if count != active(topic).count {
        fail("topic \(topic) has \(count) subscribers, not \(active(topic).count)")
      }
    }
  }
}
