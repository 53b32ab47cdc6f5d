import ConcurrencyStress
import MulticastTestSupport
import Testing

@testable import Multicast

@Suite("Retention of topics: late, returning and slow subscribers of several topics end up right")
struct TopicRetentionTests {
  /// The events of a sequence that is about to end, with their positions, and what was missed.
  private func elements<Event: Sendable>(
    _ sequence: PositionedTopicSequence<Event>
  ) async -> [PositionedTopicEvent<Event>] {
    var elements: [PositionedTopicEvent<Event>] = []
    for await element in sequence { elements.append(element) }
    return elements
  }

  private func events(_ sequence: EventSequence<Int>) async -> [Int] {
    var events: [Int] = []
    for await event in sequence { events.append(event) }
    return events
  }

  @Test("positions are in one sequence over all topics, and so are the events of several topics")
  func oneSequence() async throws {
    let hub = TopicHub<String, Int>(retention: .last(10), epoch: 3)
    #expect(hub.newestPosition == EventPosition(epoch: 3, number: 0))
    let positions = [("a", 1), ("b", 2), ("a", 3), ("c", 4)].map { hub.publish($1, to: $0) }
    #expect(positions == (1...4).map { EventPosition(epoch: 3, number: $0) })
    #expect(hub.newestPosition == positions[3])
    let sequence = hub.events(for: ["c", "a", "a"], from: .retained)
    hub.send(5, to: "b")
    hub.send(6, to: "a")
    hub.finish()
    #expect(
      await elements(sequence) == [
        .event(TopicEvent(topic: "a", event: 1), at: positions[0]!),
        .event(TopicEvent(topic: "a", event: 3), at: positions[2]!),
        .event(TopicEvent(topic: "c", event: 4), at: positions[3]!),
        .event(TopicEvent(topic: "a", event: 6), at: EventPosition(epoch: 3, number: 6)),
      ])
    #expect(hub.publish(7, to: "a") == nil && hub.newestPosition.number == 6)
  }

  @Test("a subscriber begins live, with all that is retained, with the last n, or after a position")
  func starts() async throws {
    let hub = TopicHub<String, Int>(retention: .last(2))
    for number in 1...9 { hub.send(number, to: ["a", "b", "c"][number % 3]) }
    // a: 6 9, b: 4 7, c: 5 8
    func sequence(_ start: SubscriptionStart, _ topics: String...) -> PositionedTopicSequence<Int> {
      hub.events(for: topics, from: start)
    }
    let live = sequence(.live, "a", "b")
    let retained = sequence(.retained, "a", "b")
    let last = sequence(.last(3), "a", "b")
    let none = sequence(.last(0), "a", "b")
    let after = sequence(.after(hub.position(6)), "a", "b", "c")
    let unknown = sequence(.after(hub.position(9)), "z")
    hub.send(10, to: "b")
    hub.finish()
    #expect(await elements(live).map(\.event?.event) == [10])
    // 4 has left before the consumer reads.
    let all = await elements(retained)
    #expect(all.compactMap(\.event?.event) == [6, 7, 9, 10])
    let missed = MissedEvents(after: hub.position(3), through: hub.position(4), count: 1)
    #expect(all.first == .missed(missed, of: "b"))
    #expect(await elements(last).map(\.event?.event) == [6, 7, 9, 10])
    #expect(await elements(none).map(\.event?.event) == [10])
    #expect(await elements(after).map(\.event?.event) == [7, 8, 9, 10])
    #expect(await elements(unknown).isEmpty)
  }

  @Test("what is no longer retained is reported for each topic, and what is, is not skipped")
  func missed() async throws {
    let hub = TopicHub<String, Int>(retention: .last(2))
    hub.send(1, to: "quiet")
    for number in 2...6 { hub.send(number, to: "busy") }  // 5 and 6 are left
    let start = SubscriptionStart.after(hub.position(0))
    let sequence = hub.events(for: ["quiet", "busy"], from: start)
    let other = hub.events(for: "quiet", from: start)
    hub.finish()
    let received = await elements(sequence)
    #expect(received.first == .missed(hub.range(0, 4), of: "busy"))
    #expect(received.dropFirst().map(\.event?.event) == [1, 5, 6])
    #expect(await elements(other).map(\.event?.event) == [1])
  }

  @Test("a position of another epoch is reported, and all that is retained follows")
  func otherEpoch() async throws {
    let hub = TopicHub<String, Int>(retention: .last(2), epoch: 1)
    hub.send(1, to: "a")
    let old = EventPosition(epoch: 2, number: 77)
    let ahead = EventPosition(epoch: 1, number: 5)
    let (first, second) = (
      hub.events(for: "a", from: .after(old)), hub.events(for: "a", from: .after(ahead))
    )
    hub.send(2, to: "a")
    hub.finish()
    let afterOld = await elements(first)
    #expect(
      afterOld.first == .missed(.init(after: old, through: hub.position(0), count: nil), of: nil))
    #expect(afterOld.dropFirst().map(\.event?.event) == [1, 2])
    let afterAhead = await elements(second)
    #expect(
      afterAhead.first
        == .missed(.init(after: ahead, through: hub.position(1), count: nil), of: nil))
    #expect(afterAhead.dropFirst().map(\.event?.event) == [2])
  }

  @Test(
    "after a position of another epoch, what has left behind the oldest retained event is reported",
    arguments: [false, true])
  func otherEpochMissed(hasPatterns: Bool) async throws {
    let hub = TopicHub<String, Int>(retention: .last(1), epoch: 2)
    let old = EventPosition(epoch: 1, number: 77)
    for (number, topic) in ["a", "b", "b"].enumerated() { hub.send(number + 1, to: topic) }
    let sequence =
      hasPatterns
      ? hub.events(matching: ["*"], from: .after(old))
      : hub.events(for: ["a", "b"], from: .after(old))
    hub.finish()
    #expect(
      await elements(sequence) == [
        .missed(MissedEvents(after: old, through: hub.position(0), count: nil), of: nil),
        .missed(hub.range(0, 2), of: "b"),
        .event(TopicEvent(topic: "a", event: 1), at: hub.position(1)),
        .event(TopicEvent(topic: "b", event: 3), at: hub.position(3)),
      ])
  }

  @Test("the limit in all: the oldest event of all topics leaves first, and empty topics with it")
  func budget() async throws {
    let hub = TopicHub<String, Int>(retention: .last(100), total: .bytes(10) { _ in 2 })
    for number in 1...7 { hub.send(number, to: "t\(number)") }
    #expect(hub.retainedTopics.sorted() == ["t3", "t4", "t5", "t6", "t7"])
    #expect(hub.retainedAmount == RetainedAmount(events: 5, topics: 5, bytes: 10))
    // A topic that is gone may have had events: the subscriber receives that range, and none for a
    // kept topic.
    let (gone, kept) = (
      hub.events(for: "t1", from: .after(hub.position(0))),
      hub.events(for: "t7", from: .after(hub.position(2)))
    )
    hub.finish()
    #expect(await elements(gone) == [.missed(hub.range(0, 2), of: "t1")])
    #expect(await elements(kept).map(\.event?.event) == [7])
  }

  @Test("a hundred thousand topics that come once need no more than the limit in all")
  func manyTopics() {
    let hub = TopicHub<String, Int>(retention: .last(10), total: .last(50))
    for number in 0..<100_000 { hub.send(number, to: "topic \(number)") }
    #expect(hub.retainedAmount.events == 50 && hub.retainedTopics.count == 50)
    #expect(hub.topicCount == 0)
    for _ in 0..<1_000 { hub.send(0, to: "one") }
    #expect(hub.retainedAmount.events == 50 && hub.retention?.log.orderCount ?? 0 < 200)
  }

  @Test("an event that is too large for the limit is not kept; live subscribers receive it")
  func tooLarge() async {
    let hub = TopicHub<String, Int>(retention: .last(10), total: .bytes(10) { $0 })
    let live = hub.events(for: "a")
    hub.send(3, to: "a")
    hub.send(11, to: "a")
    #expect(hub.retainedAmount == RetainedAmount(events: 0, topics: 0, bytes: 0))
    hub.send(4, to: "a")
    let late = hub.events(for: "a", from: .retained)
    hub.finish()
    #expect(await elements(late).map(\.event?.event) == [4])
    #expect(await events(live) == [3, 11, 4])
  }

  @Test("every way to send keeps the event; a refused, blocked or impossible one does not")
  func ways() async {
    let hub = TopicHub<String, Int>(retention: .last(10))
    hub.send(1, to: "a")
    hub.send(contentsOf: [2, 3], to: "a")
    #expect(await hub.sendWaiting(4, to: "a"))
    #expect(hub.trySend(5, to: "a"))
    let full = hub.events(for: "a", buffering: .bounded(1, whenFull: .dropNewest))
    let positioned = hub.events(for: "a", from: .retained)
    #expect(hub.trySend(6, to: "a"))
    #expect(!hub.trySend(7, to: "a"))
    hub.block()
    hub.send(8, to: "a")
    #expect(hub.publish(8, to: "a") == nil)
    hub.unblock()
    hub.finish()
    hub.send(9, to: "a")
    #expect(await elements(positioned).map(\.event?.event) == [1, 2, 3, 4, 5, 6])
    #expect(await events(full) == [6])
  }

  @Test("patterns: what is retained of all matching topics, and of those that begin later")
  func patterns() async {
    let hub = TopicHub<String, Int>(retention: .last(2))
    for (number, topic) in ["a.x", "b.x", "a.y", "a.x", "a.x"].enumerated() {
      hub.send(number + 1, to: topic)
    }
    let all = hub.events(matching: ["a.*", "a.x"], from: .retained)
    let live = hub.events(matching: ["a.>"], from: .live)
    let after = hub.events(matching: ["*.x"], from: .after(hub.position(0)))
    hub.send(6, to: "a.z")
    hub.send(7, to: "c")
    hub.finish("a.z")
    hub.send(8, to: "a.z")
    hub.finish()
    #expect(await elements(all).map(\.event?.event) == [3, 4, 5, 6, 8])
    #expect(await elements(live).map(\.event?.event) == [6, 8])
    let received = await elements(after)
    #expect(received.first == .missed(hub.range(0, 1), of: "a.x"))
    #expect(received.dropFirst().map(\.event?.event) == [2, 4, 5])
  }

  @Test(
    "patterns: topics that are gone may have had events, which is reported once, without a topic")
  func gonePatterns() async {
    let hub = TopicHub<String, Int>(retention: .last(2), total: .last(2))
    for number in 1...5 { hub.send(number, to: "a.\(number)") }
    let sequence = hub.events(matching: ["a.*"], from: .after(hub.position(1)))
    hub.finish()
    let received = await elements(sequence)
    #expect(received.first == .missed(hub.range(1, 3), of: nil))
    #expect(received.dropFirst().map(\.event?.event) == [4, 5])
  }

  @Test("a sequence of several topics ends when each of them was finished, and a later one goes on")
  func topicsFinish() async {
    let hub = TopicHub<String, Int>(retention: .last(10))
    let sequence = hub.events(for: ["a", "b"], from: .live)
    hub.send(1, to: "a")
    hub.finish("a")
    hub.send(2, to: "b")
    hub.finish("b")
    #expect(await elements(sequence).map(\.event?.event) == [1, 2])
    let later = hub.events(for: "a", from: .retained)
    hub.send(3, to: "a")
    hub.finish()
    #expect(await elements(later).map(\.event?.event) == [1, 3])
  }

  @Test("a sequence whose topics were finished ends, though the topics go on")
  func topicGoesOn() async {
    let hub = TopicHub<String, Int>(retention: .last(1_000))
    let sequence = hub.events(for: ["a", "b"], from: .live)
    hub.send(1, to: "a")
    hub.finish("a")
    hub.finish("b")
    var received: [Int?] = []
    for await element in sequence {
      received.append(element.event?.event)
      guard received.count < 50 else { break }
      hub.send(received.count + 1, to: "a")
    }
    #expect(received == [1])
  }

  @Test("to cancel all subscriptions ends the sequences of the topics")
  func cancelled() async {
    let hub = TopicHub<String, Int>(retention: .last(10))
    let (one, two, pattern) = (
      hub.events(for: "a", from: .live), hub.events(for: ["a", "b"], from: .live),
      hub.events(matching: ["*"], from: .live)
    )
    hub.cancelSubscriptions(to: "a")
    var iterator = two.makeAsyncIterator()
    #expect(await elements(one).isEmpty)
    hub.send(1, to: "b")
    #expect(await iterator.next()?.event?.event == 1)
    hub.cancelSubscriptions()
    #expect(await iterator.next() == nil)
    #expect(iterator.end == .cancelled)
    #expect(await elements(pattern).map(\.event?.event) == [])
    #expect(hub.topicCount == 0)
  }

  @Test("an iterator that is released ends the subscription, and the topic goes with the last one")
  func ends() async {
    let hub = TopicHub<String, Int>(retention: .last(10))
    let sequence = hub.events(for: ["a", "b"], from: .retained)
    #expect(hub.topicCount == 2 && hub.subscriberCount(for: "a") == 1)
    var iterator: PositionedTopicSequence<Int>.Iterator? = sequence.makeAsyncIterator()
    hub.send(1, to: "b")
    #expect(await iterator?.next()?.event?.event == 1)
    iterator = nil
    #expect(hub.topicCount == 0)
    // Each later iterator begins where the sequence says.
    var second = sequence.makeAsyncIterator()
    #expect(await second.next()?.event?.event == 1)
    let task = Task { [sequence] in
      var iterator = sequence.makeAsyncIterator()
      _ = await iterator.next()
      return await iterator.next()
    }
    await eventually { hub.subscriberCount(for: "a") == 2 }
    task.cancel()
    #expect(await task.value == nil)
    #expect(hub.subscriberCount(for: "a") == 1)
  }
}

extension TopicLog {
  /// The number of elements of `order`.
  fileprivate var orderCount: Int { lock.withLock { order.count } }
}

extension TopicHub where Topic == String {
  fileprivate func position(_ number: UInt64) -> EventPosition {
    EventPosition(epoch: newestPosition.epoch, number: number)
  }

  fileprivate func range(_ after: UInt64, _ through: UInt64) -> MissedEvents {
    MissedEvents(after: position(after), through: position(through), count: nil)
  }
}
