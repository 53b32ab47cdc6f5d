import Dispatch
import Multicast
import MulticastTestSupport
import Testing

@Suite("A handler for the first n events is called exactly n times", .timeLimit(.minutes(10)))
struct CallLimitTests {
  @Test("in order, and then the subscription has ended", arguments: StorageStrategy.allCases)
  func inOrder(storage: StorageStrategy) async {
    let hub = EventHub<Int>(storage: storage)
    let (inline, queued, awaited, owned) = (Journal(), Journal(), Journal(), Journal())
    let queue = DispatchQueue(label: "queue")
    let owner = RecordingObserver()
    queue.suspend()
    let subscriptions = [
      hub.subscribe(where: { !$0.isMultiple(of: 10) }, options: [.first(3)]) { inline.record($0) },
      hub.subscribe(on: queue, options: [.first(3)]) { queued.record($0) },
      hub.subscribe(options: [.once]) { event async in awaited.record(event) },
      hub.subscribe(with: owner, options: [.once]) { _, event in owned.record(event) },
    ]
    for event in 0..<5 { hub.send(event) }
    queue.resume()
    await eventually { subscriptions.allSatisfy { !$0.isActive } }
    #expect(subscriptions.allSatisfy { $0.end == .cancelled })
    #expect(inline.entries == [1, 2, 3], "what the filter excludes does not count")
    // A subscription ends when its last call begins.
    await eventually { queued.entries.count == 3 && awaited.entries.count == 1 }
    #expect(queued.entries == [0, 1, 2])
    #expect(awaited.entries == [0] && owned.entries == [0])
    await eventually { subscriptions[1].statistics?.pending == 0 }
    #expect(subscriptions[1].statistics?.delivered == 3)
    #expect(hub.subscriberCount == 0)
  }

  @Test("the replay counts")
  func replay() {
    let hub = EventHub<Int>(replay: 3)
    hub.send(contentsOf: [1, 2, 3])
    let journal = Journal()
    let once = hub.subscribe(options: [.once]) { journal.record($0) }
    #expect(!once.isActive && journal.take() == [1])
    let some = hub.subscribe(options: [.first(4)]) { journal.record($0) }
    hub.send(contentsOf: [4, 5])
    #expect(!some.isActive && journal.entries == [1, 2, 3, 4])
  }

  @Test("the subscription has ended when the last call begins; it can send without being called")
  func nested() {
    let hub = EventHub<Int>()
    let journal = Journal()
    let subscription = hub.subscribe(options: [.first(2)]) { [weak hub] event in
      journal.record(event)
      hub?.send(event + 1)
    }
    hub.send(1)
    #expect(journal.entries == [1, 2])
    #expect(subscription.end == .cancelled)
  }

  @Test(
    "with many senders", arguments: StorageStrategy.allCases,
    [(Ordering.perSender, 0), (.total, 0), (.perSender, 2)])
  func concurrentSenders(storage: StorageStrategy, kind: (Ordering, Int)) async {
    for limit in [1, 7, 100] {
      let hub = EventHub<Int>(replay: kind.1, ordering: kind.0, storage: storage)
      let calls = (0..<4).map { _ in Counter() }
      let subscriptions = [
        hub.subscribe(options: [.first(limit)]) { _ in calls[0].add() },
        hub.subscribe(on: .global(), options: [.first(limit)]) { _ in calls[1].add() },
        hub.subscribe(options: [.first(limit)], maxConcurrentCalls: 3) { _ async in
          calls[2].add()
        },
        hub.subscribe(on: .main, options: [.first(limit)]) { _ in calls[3].add() },
      ]
      runThreads(4) { _ in for event in 0..<100 { hub.send(event) } }
      await eventually { subscriptions.allSatisfy { !$0.isActive } }
      await eventually { calls.allSatisfy { $0.value >= limit } }
      for subscription in subscriptions { await subscription.cancelAndWait() }
      #expect(calls.map(\.value) == [limit, limit, limit, limit])
      #expect(subscriptions.allSatisfy { $0.end == .cancelled })
    }
  }

  @Test("a hub that finishes before: fewer calls, and finished")
  func finished() {
    let hub = EventHub<Int>()
    let journal = Journal()
    let subscription = hub.subscribe(options: [.first(3)]) { journal.record($0) }
    hub.send(1)
    hub.finish()
    #expect(journal.entries == [1] && subscription.end == .finished)
  }

  @Test("a full buffer that has disconnected before: the end stays, and no action is called")
  func disconnected() async {
    let hub = EventHub<Int>()
    let queue = DispatchQueue(label: "queue")
    let (journal, ends) = (Journal(), Counter())
    queue.suspend()
    let subscription = hub.subscribe(
      on: queue, buffering: .bounded(1, whenFull: .disconnect),
      options: [.once, .onEnd { _, _ in ends.add() }]
    ) { journal.record($0) }
    for event in 1...2 { hub.send(event) }
    #expect(subscription.end == .disconnected)
    queue.resume()
    await eventually { !subscription.isActive }
    await withCheckedContinuation { done in queue.async { done.resume() } }
    #expect(subscription.end == .disconnected)
    #expect(journal.entries == [1] && ends.value == 0)
  }

  @Test("of a topic, and of all topics: the last one removes the topic")
  func topics() {
    let hub = TopicHub<String, Int>()
    let journal = Journal()
    let one = hub.subscribe(to: "a", options: [.once]) { journal.record($0) }
    let all = hub.allTopics.subscribe(options: [.first(2)]) { journal.record($0.event) }
    for event in 1...3 { hub.send(event, to: "a") }
    #expect(journal.entries.sorted() == [1, 1, 2])
    #expect(hub.topicCount == 0)
    #expect(one.end == .cancelled && all.end == .cancelled)
  }

  @Test("a number below 1 is refused")
  func refused() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let hub = EventHub<Int>()
      _ = hub.subscribe(options: [.first(0)]) { _ in }
    }
    let message = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(message.contains("first(0)") && message.contains("at least 1"))
  }
}
