import Foundation
import Multicast
import MulticastTestSupport
import Testing

@Suite("A batch goes to the topic that exists when it begins")
struct TopicBatchTests {
  @Test(
    "in order, to handlers, queues and sequences", arguments: StorageStrategy.allCases,
    Ordering.allCases)
  func everyKindOfSubscriber(_ strategy: StorageStrategy, _ ordering: Ordering) async {
    let hub = TopicHub<String, Int>(ordering: ordering, storage: strategy)
    let (inline, queued, other) = (Journal(), Journal(), Journal())
    let subscriptions = [
      hub.subscribe(to: "a") { inline.record($0) },
      hub.subscribe(to: "a", on: DispatchQueue(label: "queue")) { queued.record($0) },
      hub.subscribe(to: "b") { other.record($0) },
    ]
    let sequence = hub.events(for: "a")
    hub.send(contentsOf: 0..<100, to: "a")
    hub.send(contentsOf: [], to: "a")
    hub.send(contentsOf: [100, 101], to: "b")
    hub.finish("a")
    var received: [Int] = []
    for await event in sequence { received.append(event) }
    #expect(received == Array(0..<100))
    #expect(inline.entries == Array(0..<100))
    #expect(other.entries == [100, 101])
    await eventually { queued.entries.count == 100 }
    #expect(queued.entries == Array(0..<100))
    withExtendedLifetime(subscriptions) {}
  }

  @Test("a batch for a topic without subscribers is not iterated, and creates no topic")
  func noSubscriber() {
    let hub = TopicHub<Int, Int>()
    hub.send(
      contentsOf: (0..<3).lazy.map { event in
        Issue.record("an event was asked for")
        return event
      }, to: 1)
    #expect(hub.topicCount == 0)
  }

  @Test("nor is a batch for a blocked hub without subscribers, or for one that has finished")
  func blockedOrFinished() {
    for (retention, isFinished) in [(nil, false), (nil, true), (Retention<Int>.last(9), true)] {
      let hub = retention.map { TopicHub<String, Int>(retention: $0) } ?? TopicHub()
      let subscription = isFinished ? hub.allTopics.subscribe { _ in } : nil
      if isFinished { hub.finish() } else { hub.block() }
      hub.send(
        contentsOf: (0..<3).lazy.map { event in
          Issue.record("an event was asked for")
          return event
        }, to: "a")
      withExtendedLifetime(subscription) {}
    }
  }

  @Test("a batch ends with the event after the end of the hub", arguments: [false, true])
  func finishedMeanwhile(retains: Bool) {
    let hub = retains ? TopicHub<String, Int>(retention: .last(9)) : TopicHub()
    let journal = Journal()
    let asked = Counter()
    let subscription = hub.subscribe(to: "a") { event in
      journal.record(event)
      if event == 1 { hub.finish() }
    }
    hub.send(
      contentsOf: (0..<9).lazy.map { event in
        asked.add()
        return event
      }, to: "a")
    #expect(journal.entries == [0, 1] && asked.value == 3)
    withExtendedLifetime(subscription) {}
  }

  @Test("a subscriber that joins an existing topic gets the rest of the batch")
  func joining() {
    let hub = TopicHub<Int, Int>()
    let (early, late) = (Journal(), Journal())
    let joined = Holder<EventSubscription>(nil)
    let subscription = hub.subscribe(to: 1) { event in
      early.record(event)
      if event == 3 { joined.value = hub.subscribe(to: 1) { late.record($0) } }
    }
    hub.send(contentsOf: 0..<10, to: 1)
    #expect(early.entries == Array(0..<10))
    #expect(late.entries == Array(4..<10))
    subscription.cancel()
    joined.value = nil
    #expect(hub.topicCount == 0)
  }

  /// How a topic ends.
  enum End: CaseIterable {
    case cancelled
    case finished
  }

  @Test(
    "a subscriber that comes after the topic is gone gets none of the batch",
    arguments: Ordering.allCases,
    End.allCases)
  func goneInAHandler(_ ordering: Ordering, _ end: End) {
    let hub = TopicHub<Int, Int>(ordering: ordering)
    let (old, new) = (Journal(), Journal())
    let (first, second) = (Holder<EventSubscription>(nil), Holder<EventSubscription>(nil))
    first.value = hub.subscribe(to: 1) { event in
      old.record(event)
      guard event == 3 else { return }
      switch end {
      case .cancelled: first.value?.cancel()
      case .finished: hub.finish(1)
      }
      second.value = hub.subscribe(to: 1) { new.record($0) }
    }
    hub.send(contentsOf: 0..<10, to: 1)
    #expect(old.entries == [0, 1, 2, 3])
    #expect(new.entries == [])
    #expect(hub.send(10, to: 1) == 1)
    #expect(new.entries == [10])
    #expect(hub.topicCount == 1)
    first.value = nil
    second.value = nil
    #expect(hub.topicCount == 0)
  }

  @Test("the same if the topic is removed while the batch makes its next event")
  func goneInTheBatch() {
    let hub = TopicHub<Int, Int>()
    let (old, new) = (Journal(), Journal())
    let (first, second) = (Holder<EventSubscription>(nil), Holder<EventSubscription>(nil))
    first.value = hub.subscribe(to: 1) { old.record($0) }
    let batch = (0..<10).lazy.map { event in
      if event == 4 {
        first.value = nil
        second.value = hub.subscribe(to: 1) { new.record($0) }
      }
      return event
    }
    hub.send(contentsOf: batch, to: 1)
    #expect(old.entries == [0, 1, 2, 3])
    #expect(new.entries == [])
    second.value = nil
    #expect(hub.topicCount == 0)
  }

  @Test(
    "no batch is split between a topic and its successor, nor has gaps, while topics come and go",
    arguments: StorageStrategy.allCases)
  func comingAndGoing(_ strategy: StorageStrategy) {
    let size = 32
    let rounds = 100
    let hub = TopicHub<Int, Numbered>(storage: strategy)
    let tracker = LifetimeTracker()
    let (own, wrong) = (Counter(), Counter())
    /// For each topic, the subscribers that have come and gone.
    let gone = [Counter(), Counter()]
    // Each of two threads subscribes to a topic of its own and cancels; two others send to both,
    // and pause in every second batch until the subscriber has gone.
    runThreads(4) { thread in
      func send(_ round: Int, to topic: Int, isPausing: Bool = false) {
        let (first, earlier) = ((4 * round + thread) * size, gone[topic].value)
        let batch = (0..<size).lazy.map { index in
          while isPausing, index == round % size, gone[topic].value == earlier, earlier < rounds {
            sched_yield()
          }
          return Numbered(first + index, tracker)
        }
        hub.send(contentsOf: batch, to: topic)
      }
      guard thread < 2 else {
        var round = 0
        while gone[0].value < rounds || gone[1].value < rounds {
          send(round, to: round % 2, isPausing: round % 4 < 2)
          round += 1
        }
        return
      }
      var history = BatchHistory(size: size)
      for round in 0..<rounds {
        let journal = Journal()
        let subscription = hub.subscribe(to: thread) { journal.record($0.number) }
        var abandoned: EventSequence<Numbered>? = hub.events(for: thread)
        send(round, to: thread)
        _ = abandoned
        abandoned = nil
        if !subscription.cancelAndWait(timeout: .seconds(timeLimit)) { wrong.add() }
        gone[thread].add()
        let entries = journal.entries
        if !history.add(entries) { wrong.add() }
        own.add(entries.count { $0 / size == 4 * round + thread })
      }
    }
    #expect(own.value == 2 * rounds * size)
    #expect(wrong.value == 0)
    #expect(hub.topicCount == 0)
    #expect(tracker.live == 0)
  }
}

/// An event whose lifetime is counted.
private final class Numbered: Sendable {
  let number: Int
  private let tracker: LifetimeTracker

  init(_ number: Int, _ tracker: LifetimeTracker) {
    self.number = number
    self.tracker = tracker
    tracker.noteCreation()
  }

  deinit { tracker.noteDestruction() }
}

/// The batches that came to one subscriber after the other.
private struct BatchHistory {
  let size: Int
  private var earlier: Set<Int> = []

  init(size: Int) {
    self.size = size
  }

  /// Adds the numbers that came to the next subscriber.
  ///
  /// - Returns: whether each batch came without gaps, and not to an earlier one.
  mutating func add(_ numbers: [Int]) -> Bool {
    var last: [Int: Int] = [:]
    for number in numbers {
      let batch = number / size
      if let last = last[batch], number != last + 1 { return false }
      last[batch] = number
    }
    defer { earlier.formUnion(last.keys) }
    return earlier.isDisjoint(with: last.keys)
  }
}
