import MulticastTestSupport
import Testing

@testable import Multicast

/// An event with a key and a size.
private struct Reading: Sendable, Hashable {
  var key: Int
  var value: Int
}

@Suite("A hub keeps an event as long as each part of its retention keeps it")
struct RetentionKindTests {
  private func retained<Event>(_ hub: EventHub<Event>) -> [Event] {
    hub.retainedEvents().compactMap(\.event)
  }

  @Test("last: the newest events")
  func last() {
    for count in [1, 2, 3, 64, 65, 1000] {
      let hub = EventHub<Int>(retention: .last(count))
      for event in 1...700 {
        hub.send(event)
        #expect(retained(hub).last == event)
      }
      #expect(retained(hub) == Array(max(1, 701 - count)...700))
      #expect(hub.value == 700)
    }
  }

  @Test("all: every event")
  func all() {
    let hub = EventHub<Int>(retention: .all)
    for event in 1...10_000 { hub.send(event) }
    #expect(retained(hub) == Array(1...10_000))
  }

  @Test("none: no positions, and no replay")
  func none() async {
    let hub = EventHub<Int>(retention: .none)
    hub.send(1)
    #expect(hub.value == nil)
    let sequence = hub.events()
    hub.finish()
    for await event in sequence { Issue.record("received \(event)") }
  }

  @Test("bytes: the newest events whose sizes are at most the limit together")
  func bytes() {
    let calls = Counter()
    let hub = EventHub<String>(
      retention: .bytes(10) { event in
        calls.add()
        return event.utf8.count
      })
    for event in ["12345", "12345"] { hub.send(event) }
    #expect(retained(hub) == ["12345", "12345"])
    hub.send("1")
    #expect(retained(hub) == ["12345", "1"])
    hub.send("")
    hub.send("123")
    #expect(retained(hub) == ["12345", "1", "", "123"])
    // Larger than the limit: not kept, nor is any event before it.
    let large = hub.publish("12345678901")!
    #expect(retained(hub).isEmpty && hub.value == nil)
    #expect(hub.newestPosition == large)
    let next = hub.publish("1234567890")!
    #expect(next.number == large.number + 1)
    #expect(retained(hub) == ["1234567890"])
    #expect(calls.value == 7)
  }

  @Test("bytes of events that an envelope holds without a box")
  func bytesOfIntegers() {
    let hub = EventHub<Int>(retention: .bytes(100) { $0 })
    for event in 1...50 { hub.send(event) }
    #expect(retained(hub) == [49, 50])
  }

  @Test("bytes: the largest limit is one too")
  func mostBytes() {
    let retention = Retention<Int>.bytes(.max) { $0 }
    let hub = EventHub<Int>(retention: retention)
    let topics = TopicHub<String, Int>(retention: .last(10), total: retention)
    let topic = TopicHub<String, Int>(retention: retention)
    for event in [1, .max - 1, 1, 2] {
      hub.send(event)
      topics.send(event, to: "\(event)")
      topic.send(event, to: "a")
    }
    #expect(retained(hub) == [1, 2])
    #expect(Set(topics.retainedTopics) == ["1", "2"])
    #expect(topics.retainedAmount == RetainedAmount(events: 2, topics: 2, bytes: 3))
    #expect(topic.retainedAmount == RetainedAmount(events: 2, topics: 1, bytes: 3))
  }

  @Test("age: what was sent in that time")
  func age() async {
    let hub = EventHub<Int>(retention: .seconds(3600))
    for event in 1...1000 { hub.send(event) }
    #expect(retained(hub) == Array(1...1000))
    let short = EventHub<Int>(retention: .seconds(1e-9))
    short.send(1)
    await eventually { short.retainedEvents().isEmpty }
    #expect(short.value == nil)
    #expect(short.newestPosition.number == 1)
    let seconds = EventHub<Int>(retention: .seconds(3600))
    seconds.send(1)
    #expect(retained(seconds) == [1])
  }

  @Test("latestPerKey: the newest event of each key, in order")
  func latestPerKey() {
    let hub = EventHub<Reading>(retention: .latestPerKey(by: \.key))
    var latest: [Int: (number: Int, event: Reading)] = [:]
    var generator = SplitMix64(seed: SplitMix64.runSeed)
    for number in 1...3_000 {
      let event = Reading(key: .random(in: 0..<40, using: &generator), value: number)
      let position = hub.publish(event)!
      #expect(position.number == UInt64(number))
      latest[event.key] = (number, event)
      guard number % 50 == 0 else { continue }
      #expect(retained(hub) == latest.values.sorted { $0.number < $1.number }.map(\.event))
      // What was replaced is not reported as missed.
      #expect(hub.retainedEvents().allSatisfy { $0.event != nil })
    }
    let after = EventPosition(epoch: hub.newestPosition.epoch, number: 1)
    let missed = hub.retainedEvents(from: .after(after)).filter { $0.event == nil }
    #expect(missed.isEmpty)
  }

  @Test("latestPerKey: the initial value has a key too")
  func initialValueHasAKey() {
    let hub = EventHub(
      initialValue: Reading(key: 1, value: 0), retention: .latestPerKey(by: \.key))
    hub.send(Reading(key: 2, value: 1))
    #expect(retained(hub).map(\.value) == [0, 1])
    hub.send(Reading(key: 1, value: 2))
    #expect(retained(hub).map(\.value) == [1, 2])
  }

  @Test("keys of events that have left do not accumulate")
  func keysDoNotAccumulate() {
    let tracker = LifetimeTracker()
    let hub = EventHub<Int>(
      retention: .latestPerKey { Key($0, tracker) }.and(.last(100)))
    for event in 1...20_000 {
      hub.send(event)
      #expect(tracker.live <= 2 * 100 + 66)
    }
    #expect(retained(hub) == Array(19_901...20_000))
  }

  @Test("keeping(while:): the oldest events leave while the condition does not hold for them")
  func keeping() {
    let floor = Guarded(0)
    let hub = EventHub<Int>(retention: .keeping { event in event >= floor.withLock { $0 } })
    for event in [5, 1, 9, 2, 7] { hub.send(event) }
    #expect(retained(hub) == [5, 1, 9, 2, 7])
    floor.withLock { $0 = 4 }
    hub.send(8)
    #expect(retained(hub) == [5, 1, 9, 2, 7, 8])
    floor.withLock { $0 = 6 }
    hub.send(6)
    // 2 is not the oldest.
    #expect(retained(hub) == [9, 2, 7, 8, 6])
    floor.withLock { $0 = 100 }
    hub.send(50)
    #expect(retained(hub).isEmpty)
  }

  @Test("and: what both keep")
  func combinations() {
    let both = EventHub<Int>(
      retention: .last(5).and(.bytes(12) { $0 }).and(.seconds(3600)))
    for event in 1...3 { both.send(event) }
    #expect(retained(both) == [1, 2, 3])
    both.send(10)
    #expect(retained(both) == [10])
    for event in [0, 1, 0, 1, 0] { both.send(event) }
    #expect(retained(both) == [0, 1, 0, 1, 0])
    let conditions = EventHub<Int>(
      retention: .keeping { $0 > 2 }.and(.keeping { $0 < 8 }).and(.last(100)))
    for event in [9, 1, 3, 9, 4] { conditions.send(event) }
    #expect(retained(conditions) == [3, 9, 4])
    #expect(Retention<Int>.none.and(.all).isNone && Retention<Int>.last(3).and(.last(0)).isNone)
  }

  @Test("what newer events have replaced counts neither for a limit nor as missed")
  func atMostOfKeys() {
    let hub = EventHub<Int>(retention: .latestPerKey { $0 / 10 }, epoch: 1)
    for event in [10, 20, 21] { hub.send(event) }
    func elements(after number: UInt64, _ limit: Int) -> [String] {
      let start = SubscriptionStart.after(EventPosition(epoch: 1, number: number), atMost: limit)
      return hub.retainedEvents(from: start).map { element in
        switch element {
        case .event(let event, at: _): "\(event)"
        case .missed(let range): "missed \(range.after.number)-\(range.through.number)"
        }
      }
    }
    #expect(elements(after: 1, 1) == ["21"])
    #expect(elements(after: 0, 2) == ["10", "21"])
    #expect(elements(after: 0, 1) == ["missed 0-2", "21"])
    #expect(elements(after: 0, 0) == ["missed 0-3"])
    hub.send(11)
    #expect(elements(after: 0, 5) == ["21", "11"])
  }

  @Test("two hubs with the same retention keep their own keys")
  func twoHubs() {
    let retention = Retention<Int>.latestPerKey { $0 % 2 }
    let hubs = [EventHub<Int>(retention: retention), EventHub<Int>(retention: retention)]
    for event in 1...4 { for hub in hubs { hub.send(event) } }
    for hub in hubs { #expect(retained(hub) == [3, 4]) }
  }

  @Test("evicted events are destroyed, those that are retained with the hub")
  func lifetimes() {
    let tracker = LifetimeTracker()
    do {
      let hub = EventHub<RecordingActor>(retention: .last(10))
      for count in 1...100 {
        hub.send(RecordingActor(tracker: tracker))
        #expect(tracker.live == min(count, 10))
      }
      // Readers that are gone keep nothing alive.
      _ = hub.retainedEvents()
      #expect(tracker.live == 10)
    }
    #expect(tracker.live == 0 && tracker.created == 100)
  }
}

/// A key whose lifetime is observed.
private final class Key: Hashable, Sendable {
  let value: Int
  let tracker: LifetimeTracker

  init(_ value: Int, _ tracker: LifetimeTracker) {
    self.value = value
    self.tracker = tracker
    tracker.noteCreation()
  }

  deinit { tracker.noteDestruction() }

  static func == (left: Key, right: Key) -> Bool { left.value == right.value }

  func hash(into hasher: inout Hasher) { hasher.combine(value) }
}
