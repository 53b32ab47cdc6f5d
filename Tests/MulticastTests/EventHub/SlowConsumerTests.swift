import Dispatch
import Multicast
import MulticastTestSupport
import Testing

@Suite("Promise 7: a slow subscriber slows no other one and takes no more than its policy says")
struct SlowConsumerTests {
  static let policies: [BufferingPolicy<Int>] = [
    .bounded(4, whenFull: .dropOldest), .bounded(4, whenFull: .dropNewest),
    .bounded(4, whenFull: .suspend), .bounded(4, whenFull: .disconnect), .latest,
    .coalescing { $0 % 4 },
  ]

  @Test("one stalled consumer starves no other one, in every policy", arguments: policies.indices)
  func stalled(_ policy: Int) async {
    let hub = EventHub<Int>()
    let stalled = hub.events(buffering: Self.policies[policy])
    let quick = hub.events()
    for event in 0..<1000 { hub.send(event) }
    let statistics = hub.statistics
    // Every dropped event is counted and visible; one that was disconnected is sent no more.
    #expect(statistics.dropped >= (policy == 3 ? 1 : 1000 - 5))
    #expect(statistics.pending <= 1000 + 4)
    hub.finish()
    var count = 0
    for await _ in quick { count += 1 }
    #expect(count == 1000)
    var received: [Int] = []
    for await event in stalled { received.append(event) }
    #expect(received.count <= 4)
    #expect(received == received.sorted())
  }

  @Test("a million sends to a stalled consumer leave memory flat")
  func flatMemory() {
    let tracker = LifetimeTracker()
    let hub = EventHub<RecordingObserver>()
    let sequences = [
      hub.events(buffering: .bounded(10, whenFull: .dropOldest)), hub.events(buffering: .latest),
      hub.events(buffering: .coalescing { $0.id % 7 }),
    ]
    var most = 0
    for event in 0..<300_000 {
      hub.send(RecordingObserver(event, tracker: tracker))
      if event % 1000 == 0 { most = max(most, tracker.live) }
    }
    #expect(most <= 10 + 1 + 7 + 1)
    #expect(hub.statistics.dropped == 3 * 300_000 - 18)
    withExtendedLifetime(sequences) {}
  }

  @Test("limit 1 for every policy")
  func limitOne() async {
    for (whenFull, expected) in [
      (OverflowPolicy.dropOldest, [2]), (.dropNewest, [0]), (.suspend, [0]),
      (.disconnect, [0]),
    ] {
      let hub = EventHub<Int>()
      let sequence = hub.events(buffering: .bounded(1, whenFull: whenFull))
      let iterator = sequence.makeAsyncIterator()
      for event in 0..<3 { hub.send(event) }
      #expect(hub.statistics.dropped == (whenFull == .disconnect ? 1 : 2))
      hub.finish()
      var received: [Int] = []
      while let event = await iterator.next() { received.append(event) }
      #expect(received == expected)
      #expect(iterator.end == (whenFull == .disconnect ? .disconnected : .finished))
    }
  }

  @Test("disconnect: the slow consumer gets what waits, then its end, and can find out why")
  func disconnect() async {
    let hub = EventHub<Int>()
    let sequence = hub.events(buffering: .bounded(2, whenFull: .disconnect))
    let queue = DispatchQueue(label: "suspended")
    queue.suspend()
    let journal = Journal()
    let subscription = hub.subscribe(
      on: queue, buffering: .bounded(2, whenFull: .disconnect)
    ) { journal.record($0) }
    for event in 0..<10 { hub.send(event) }
    #expect(hub.subscriberCount == 0)
    #expect(subscription.end == .disconnected)
    let iterator = sequence.makeAsyncIterator()
    #expect(await iterator.next() == 0)
    #expect(await iterator.next() == 1)
    #expect(await iterator.next() == nil)
    #expect(iterator.end == .disconnected)
    queue.resume()
    await eventually { journal.entries == [0, 1] && !subscription.isActive }
    #expect(hub.send(10) == 0)
  }

  @Test("coalescing: at most one event for each key, the newest")
  func coalescing() async {
    let hub = EventHub<Int>()
    let sequence = hub.events(buffering: .coalescing { $0 % 3 })
    for event in 0..<100 { hub.send(event) }
    hub.finish()
    var received: Set<Int> = []
    for await event in sequence { received.insert(event) }
    #expect(received == [97, 98, 99])
  }

  @Test("an in-band note says how many were dropped, and where")
  func notes() async {
    let hub = EventHub<Int>()
    let oldest = hub.events(buffering: .bounded(2, whenFull: .dropOldest)).notingDrops()
    let newest = hub.events(buffering: .bounded(2, whenFull: .dropNewest)).notingDrops()
    for event in 0..<5 { hub.send(event) }
    hub.finish()
    var notes: [String] = []
    var iterator = oldest.makeAsyncIterator()
    #expect(iterator.end == .finished && iterator.statistics.pending == 2)
    while let element = await iterator.next() { notes.append("\(element)") }
    #expect(notes == ["dropped(3)", "event(3)", "event(4)"])
    #expect(iterator.statistics.delivered == 2 && iterator.statistics.dropped == 3)
    notes = []
    for await element in newest { notes.append("\(element)") }
    #expect(notes == ["event(0)", "event(1)", "dropped(3)"])
  }

  // MARK: sendWaiting

  @Test("sendWaiting suspends while a .suspend subscriber is full, and drops nothing")
  func sendWaiting() async {
    let hub = EventHub<Int>()
    let slow = hub.events(buffering: .bounded(2, whenFull: .suspend))
    let quick = hub.events()
    let sent = Counter()
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        for event in 0..<500 {
          await hub.sendWaiting(event)
          sent.add()
        }
        hub.finish()
      }
      group.addTask {
        var expected = 0
        for await event in slow {
          #expect(event == expected)
          // The sender is ahead by at most the buffer, the batch taken, and the event it waits
          // with.
          #expect(sent.value <= event + 2 + 2 + 1)
          expected += 1
        }
        #expect(expected == 500)
      }
      group.addTask {
        var count = 0
        for await _ in quick { count += 1 }
        #expect(count == 500)
      }
    }
    #expect(hub.statistics.dropped == 0)
  }

  @Test(
    "a waiting sender resumes on space, cancellation, finish, and the end of the consumer")
  func releases() async {
    for reason in 0..<3 {
      let hub = EventHub<Int>()
      let iterator = hub.events(buffering: .bounded(1, whenFull: .suspend)).makeAsyncIterator()
      hub.send(0)
      let sender = Task { await hub.sendWaiting(1) }
      await eventually { hub.statistics.pending == 2 }
      switch reason {
      case 0: #expect(await iterator.next() == 0)
      case 1: sender.cancel()
      default: hub.finish()
      }
      #expect(await sender.value == (reason != 1))
      #expect(hub.statistics.dropped == (reason == 1 ? 1 : 0))
    }
    let hub = EventHub<Int>()
    var sequence: EventSequence<Int>? = hub.events(buffering: .bounded(1, whenFull: .suspend))
    hub.send(0)
    let sender = Task { await hub.sendWaiting(1) }
    await eventually { hub.statistics.pending == 2 }
    _ = sequence
    sequence = nil
    // The subscription has ended by itself, which is no failure of the sender.
    #expect(await sender.value)
    #expect(hub.subscriberCount == 0)
  }

  @Test("sendWaiting in total order")
  func sendWaitingTotal() async {
    let hub = EventHub<Int>(ordering: .total)
    let sequence = hub.events(buffering: .bounded(1, whenFull: .suspend))
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        for event in 0..<100 { await hub.sendWaiting(event) }
        hub.finish()
      }
      group.addTask {
        var expected = 0
        for await event in sequence {
          #expect(event == expected)
          expected += 1
        }
        #expect(expected == 100)
      }
    }
  }
}
