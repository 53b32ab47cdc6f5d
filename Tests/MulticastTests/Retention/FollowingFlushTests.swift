import Dispatch
import Multicast
import MulticastTestSupport
import Testing

@Suite("After flush a subscriber with positions has handled every event that was sent before")
struct FollowingFlushTests {
  @Test("also if a drain makes room for others several times", arguments: FollowerKind.allCases)
  func manyEvents(_ kind: FollowerKind) async {
    let hub = EventHub<Int>(retention: .last(10_000))
    let follower = Follower<Int>()
    let following = await hub.follow(kind, from: .retained) { follower.receive($0) }
    for round in 1...20 {
      for event in 1...300 { hub.send(event) }
      await hub.flush()
      #expect(follower.events.count == round * 300)
    }
    withExtendedLifetime(following) {}
    following.cancel()
  }

  @Test("under concurrent senders, each of which flushes", arguments: FollowerKind.allCases)
  func concurrent(_ kind: FollowerKind) async {
    let hub = EventHub<Int>(retention: .last(100_000))
    let handled = (0..<3).map { _ in Counter() }
    let following = await hub.follow(kind, from: .live) { element in
      if let event = element.event { handled[event].add() }
    }
    await withTaskGroup { group in
      for sender in 0..<3 {
        group.addTask {
          for round in 1...50 {
            for _ in 0..<40 { hub.send(sender) }
            await hub.flush()
            #expect(handled[sender].value == round * 40)
          }
        }
      }
    }
    #expect(handled.map(\.value) == [2_000, 2_000, 2_000])
    withExtendedLifetime(following) {}
    following.cancel()
  }

  // One after the other: an actor that always has something to do keeps a thread of the pool, and
  // with two of them none may be left for the tests.
  @Test(
    "it does not wait for events that were sent after it began, however many follow", .serialized,
    arguments: FollowerKind.allCases)
  func endlessEvents(_ kind: FollowerKind) async {
    let hub = EventHub<Int>(retention: .last(1_000))
    let (handled, over) = (Counter(), Counter())
    // Each call sends one more event than it receives, so the subscriber never reaches the newest.
    let following = await hub.follow(kind, from: .live) { [weak hub] element in
      handled.add()
      guard let hub, let event = element.event, over.value == 0 else { return }
      hub.send(event + 1)
      if event % 100 == 0 { hub.send(event + 1) }
    }
    // The thread that sends to a handler without a queue serves it for as long.
    let sender = RunningThread { hub.send(1) }
    await eventually { handled.value > 10 }
    await hub.flush()
    over.add()
    sender.join()
    withExtendedLifetime(following) {}
    following.cancel()
  }

  @Test("also if an event is sent between two drains of a backlog")
  func betweenDrains() async {
    let hub = EventHub<Int>(retention: .last(1_000))
    // A drain reads 64 events. So the second one ends at the newest event of the backlog.
    for event in 1...128 { hub.send(event) }
    let queue = DispatchQueue(label: "follower")
    queue.suspend()
    let (journal, isSent) = (Journal(), AsyncGate())
    let subscription = hub.subscribe(from: .retained, on: queue) { [weak hub] element in
      journal.record(element.event ?? 0)
      guard let hub, element.event == 64 else { return }
      // The second drain comes after this block: the first one schedules it when it ends.
      queue.async {
        #expect(journal.entries == Array(1...64))
        hub.send(129)
        isSent.open()
      }
    }
    queue.resume()
    await isSent.wait()
    await hub.flush()
    #expect(journal.entries == Array(1...129))
    withExtendedLifetime(subscription) {}
  }

  @Test("a blocking flush inside the handler does not wait for itself")
  func insideTheHandler() async {
    let hub = EventHub<Int>(retention: .last(100))
    let results = Guarded<[Bool]>([])
    let following = await hub.follow(.serialQueue, from: .live) { [weak hub] _ in
      guard let hub else { return }
      let isDone = hub.flush(timeout: .seconds(100))
      results.withLock { $0.append(isDone) }
    }
    for event in 1...3 { hub.send(event) }
    await hub.flush()
    #expect(results.withLock { $0 } == [true, true, true])
    withExtendedLifetime(following) {}
  }

  @Test("the body of a loop over a sequence may flush")
  func insideTheLoop() async {
    let hub = EventHub<Int>(retention: .last(100))
    let sequence = hub.events(from: .live)
    for event in 1...3 { hub.send(event) }
    var received: [Int] = []
    for await element in sequence {
      received.append(element.event!)
      await hub.flush()
      if received.count == 3 { break }
    }
    #expect(received == [1, 2, 3])
  }

  @Test("a sequence that is given up holds no flush up")
  func givenUp() async {
    let hub = EventHub<Int>(retention: .last(1_000))
    for event in 1...500 { hub.send(event) }
    do {
      var iterator = hub.events(from: .retained).makeAsyncIterator()
      #expect(await iterator.next()?.event == 1)
    }
    await hub.flush()
    #expect(hub.subscriberCount == 0)
  }
}
