import Dispatch
import Multicast
import MulticastTestSupport
import Testing

private typealias Element = TopicEvent<String, Int>

@Suite(
  "Subscriptions to patterns inside deliveries, many of them, and their ends",
  .timeLimit(.minutes(10)))
struct TopicPatternNestingTests {
  @Test(
    "an event that a handler sends follows the current one in every buffer, of all kinds",
    arguments: [true, false])
  func nested(hasOwnSubscriber: Bool) async {
    let hub = TopicHub<String, Int>()
    let patterns: [TopicPattern] = ["a.*", "*.b", "a.>", ">", "*.*", "a.b"]
    let handlers = patterns.enumerated().map { index, pattern in
      hub.subscribe(matching: pattern) { [weak hub] element in
        if element.event < 10 { hub?.send(element.event + 10 * (index + 1), to: "a.b") }
      }
    }
    let own = hasOwnSubscriber ? hub.subscribe(to: "a.b") { _ in } : nil
    let all = hub.allTopics.subscribe { [weak hub] element in
      if element.event < 10 { hub?.send(element.event + 100, to: "a.b") }
    }
    let sequences = patterns.map { hub.events(matching: $0) } + [hub.allTopics.events()]
    hub.send(1, to: "a.b")
    hub.send(2, to: "a.b")
    hub.finish()
    var received: [[Int]] = []
    for sequence in sequences {
      var events: [Int] = []
      for await element in sequence { events.append(element.event) }
      received.append(events)
    }
    for events in received {
      #expect(events == received[0])
      #expect(events.count == 16 && events.first == 1 && events[8] == 2)
    }
    withExtendedLifetime((handlers, own, all)) {}
  }

  @Test(
    "a handler that is added inside another does not get the current event",
    arguments: Ordering.allCases)
  func addedInside(ordering: Ordering) {
    let hub = TopicHub<String, Int>(ordering: ordering)
    let (journal, added) = (Journal(), Holder<[EventSubscription]>(nil))
    let others = (["a", "*", ">"] as [TopicPattern]).map { pattern in
      hub.subscribe(matching: pattern) { [weak hub] _ in
        guard added.value == nil else { return }
        added.value = (["a", "*", ">"] as [TopicPattern]).map { pattern in
          hub!.subscribe(matching: pattern) { journal.record($0.event) }
        }
      }
    }
    hub.send(1, to: "a")
    #expect(journal.entries.isEmpty)
    hub.send(2, to: "a")
    #expect(journal.entries == [2, 2, 2])
    withExtendedLifetime(others) {}
  }

  @Test("more matching patterns than a sender nests, and more than fit on its stack")
  func manyMatching() async {
    let hub = TopicHub<String, Int>()
    let journal = Journal()
    let topic = Array(repeating: "a", count: 10).joined(separator: ".")
    let patterns = (0..<1024).map { bits in
      TopicPattern((0..<10).map { bits >> $0 & 1 == 0 ? "a" : "*" }.joined(separator: "."))!
    }
    let subscriptions = patterns.map { hub.subscribe(matching: $0) { journal.record($0.event) } }
    let sequences = patterns.map { hub.events(matching: $0) }
    let thread = RunningThread(stackSize: 256 * 1024) {
      #expect(hub.send(1, to: topic) == 2048)
      #expect(hub.send(2, to: topic + ".b") == 0)
    }
    thread.join()
    #expect(journal.entries.count == 1024)
    hub.finish()
    for sequence in sequences {
      var count = 0
      for await _ in sequence { count += 1 }
      #expect(count == 1)
    }
    withExtendedLifetime(subscriptions) {}
  }

  @Test("neither the hub nor a handler is kept by it, and it ends with an owner")
  func lifetimes() {
    let tracker = LifetimeTracker()
    do {
      let hub = TopicHub<String, Int>()
      let observer = RecordingObserver(tracker: tracker)
      let kept = [
        hub.subscribe(matching: "a.*") { observer.receive($0.event) },
        hub.subscribe(matching: ["a.*", ">"]) { observer.receive($0.event) },
      ]
      let sequence = hub.events(matching: "a.b")
      do {
        let owner = RecordingObserver(tracker: tracker)
        hub.subscribe(matching: "*.b", with: owner) { $0.receive($1.event) }
        hub.send(1, to: "a.b")
        #expect(owner.calls == 1)
      }
      #expect(hub.send(1, to: "a.b") == 3)
      #expect(hub.patterns == ["a.*", ">", "a.b"], "the next send has removed it")
      #expect(observer.calls == 4)
      // Each time the number of patterns has doubled, those of dead owners are removed.
      for number in 0..<1000 {
        let owner = RecordingObserver(tracker: tracker)
        hub.subscribe(matching: TopicPattern("o.\(number)")!, with: owner) { _, _ in }
        #expect(hub.patterns.count < 100)
      }
      withExtendedLifetime((kept, sequence)) {}
    }
    #expect(tracker.created == 1002 && tracker.live == 0)
  }

  @Test("a hub that is gone has finished for it, also for what waits")
  func gone() async {
    let (subscription, sequence) = {
      let hub = TopicHub<String, Int>()
      let sequence = hub.events(matching: "a.*")
      let subscription = hub.subscribe(matching: "a.*") { _ in }
      hub.send(1, to: "a.b")
      return (subscription, sequence)
    }()
    #expect(subscription.end == .finished)
    var received: [Int] = []
    for await element in sequence { received.append(element.event) }
    for await _ in sequence { Issue.record("an event of a hub that is gone") }
    #expect(received == [1])
  }
}
