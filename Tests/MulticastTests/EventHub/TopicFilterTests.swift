import Dispatch
import Multicast
import MulticastTestSupport
import Testing

@Suite("A topic's subscriber gets what it asks for, and leaves nothing behind")
struct TopicFilterTests {
  @Test(
    "a filter keeps what a subscriber does not want out of its buffer",
    arguments: StorageStrategy.allCases)
  func filter(_ strategy: StorageStrategy) async {
    let hub = TopicHub<String, Int>(storage: strategy)
    let (inline, queued, owned) = (Journal(), Journal(), Journal())
    let owner = RecordingObserver()
    let queue = DispatchQueue(label: "queue")
    queue.suspend()
    let sequence = hub.events(for: "a", buffering: .bounded(2, whenFull: .dropNewest)) {
      $0 % 10 == 0
    }
    let subscriptions = [
      hub.subscribe(to: "a", where: { $0 > 15 }) { inline.record($0) },
      hub.subscribe(
        to: "a", on: queue, buffering: .bounded(3, whenFull: .dropNewest), where: { $0 < 3 }
      ) { queued.record($0) },
      hub.subscribe(to: "a", with: owner, where: { $0 == 7 }) { _, event in owned.record(event) },
      hub.subscribe(to: "b") { _ in Issue.record("an event of another topic") },
    ]
    for event in 0..<20 {
      let wanted = [event % 10 == 0, event > 15, event < 3, event == 7].count { $0 }
      #expect(hub.send(event, to: "a") == wanted)
    }
    #expect(hub.statistics(for: "a")?.pending == 5)
    #expect(hub.statistics(for: "a")?.dropped == 0)
    #expect(hub.statistics(for: "a") == hub.statistics["a"])
    #expect(hub.statistics(for: "c") == nil)
    queue.resume()
    hub.finish("a")
    var received: [Int] = []
    for await event in sequence { received.append(event) }
    #expect(received == [0, 10])
    #expect(inline.entries == [16, 17, 18, 19])
    #expect(owned.entries == [7])
    await eventually { queued.entries.count == 3 }
    #expect(queued.entries == [0, 1, 2])
    withExtendedLifetime((owner, subscriptions)) {}
  }

  @Test("every iterator of a sequence has its filter")
  func iterators() async {
    let hub = TopicHub<Int, Int>()
    let sequence = hub.events(for: 1) { $0 % 2 == 0 }
    let iterators = (0..<3).map { _ in sequence.makeAsyncIterator() }
    #expect(hub.subscriberCount(for: 1) == 3)
    #expect(hub.send(1, to: 1) == 0)
    #expect(hub.send(2, to: 1) == 3)
    for iterator in iterators { #expect(await iterator.next() == 2) }
  }

  @Test("first(for:where:) gets one event of its topic and leaves nothing behind")
  func firstWhere() async {
    let hub = TopicHub<String, Int>()
    async let first = hub.first(for: "a") { $0 > 2 }
    await eventually { hub.subscriberCount(for: "a") == 1 }
    for event in 0..<6 {
      hub.send(event + 10, to: "b")
      hub.send(event, to: "a")
    }
    #expect(await first == 3)
    #expect(hub.topicCount == 0)

    async let none = hub.first(for: "a") { $0 > 100 }
    await eventually { hub.subscriberCount(for: "a") == 1 }
    hub.send(100, to: "a")
    hub.finish("a")
    #expect(await none == nil)
    #expect(hub.topicCount == 0)

    let cancelled = Task { await hub.first(for: "a") { _ in true } }
    await eventually { hub.subscriberCount(for: "a") == 1 }
    cancelled.cancel()
    #expect(await cancelled.value == nil)
    #expect(hub.topicCount == 0)
  }

  @Test("many wait for the first event of topics that are removed in the meantime")
  func manyWait() async {
    let hub = TopicHub<Int, Int>()
    let tasks = (0..<400).map { number in
      Task { await hub.first(for: number % 100) { $0 == number } }
    }
    await eventually { (0..<100).allSatisfy { hub.subscriberCount(for: $0) == 4 } }
    await onOwnThread {
      runThreads(4) { thread in
        for topic in 0..<100 { hub.send(100 * thread + topic, to: topic) }
      }
    }
    for (number, task) in tasks.enumerated() { #expect(await task.value == number) }
    #expect(hub.topicCount == 0)
  }

  @Test("no lock is held while a filter runs: it may use the hub, also from another thread")
  func filtersUseTheHub() async {
    let hub = TopicHub<Int, Int>()
    let calls = Counter()
    let filter: @Sendable (Int) -> Bool = { event in
      guard event < 10 else { return true }
      runThreads(1) { _ in
        hub.send(event + 10, to: 1)
        hub.subscribe(to: 1, where: { _ in true }) { _ in }.cancel()
        let subscription = hub.subscribe(to: 2) { _ in calls.add() }
        hub.send(contentsOf: [1, 2], to: 2)
        hub.finish(2)
        _ = (hub.statistics, hub.statistics(for: 1), subscription)
      }
      return true
    }
    let journal = Journal()
    let sequence = hub.events(for: 1, where: filter)
    let subscription = hub.subscribe(to: 1, where: filter) { journal.record($0) }
    hub.send(contentsOf: 0..<3, to: 1)
    hub.finish(1)
    #expect(journal.entries == [10, 10, 0, 11, 11, 1, 12, 12, 2])
    var received: [Int] = []
    for await event in sequence { received.append(event) }
    #expect(received == [10, 0, 10, 11, 1, 11, 12, 2, 12])
    #expect(calls.value == 12)
    #expect(hub.topicCount == 0)
    withExtendedLifetime(subscription) {}
  }

  @Test("topics whose owners are gone are bounded by those that are there, filters or not")
  func deadTopics() {
    let tracker = LifetimeTracker()
    let hub = TopicHub<Int, Int>()
    for topic in 0..<10_000 {
      let owner = RecordingObserver(tracker: tracker)
      hub.subscribe(to: topic, with: owner, where: { $0 > 0 }) { _, _ in }
    }
    #expect(hub.topicCount <= 128)
    #expect(tracker.created == 10_000)
    #expect(tracker.live == 0)
  }
}
