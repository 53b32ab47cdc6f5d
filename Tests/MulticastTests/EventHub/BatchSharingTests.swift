import Multicast
import MulticastTestSupport
import Testing

/// An actor, several tasks of which await the next batch of one iterator.
private actor BatchTaker {
  private let iterator: EventSequence<RecordingObserver>.Batches.Iterator
  private(set) var received: [Int] = []

  init(_ sequence: EventSequence<RecordingObserver>.Batches) {
    iterator = sequence.makeAsyncIterator()
  }

  func takeAll() async {
    while let batch = await iterator.next() {
      #expect(!batch.isEmpty)
      received += batch.map(\.id)
    }
  }
}

/// An actor that consumes, and on which another job waits.
private actor BusyTaker {
  private var batches = 0
  private var batchesBefore: Int?

  func takeAll(_ sequence: EventSequence<Int>.Batches) async -> Int? {
    Task { batchesBefore = batches }
    for await _ in sequence { batches += 1 }
    return batchesBefore
  }
}

@Suite("Batches under load: every event once, in order, and none is left behind")
struct BatchSharingTests {
  @Test("tasks of one actor that await one iterator: each event is in one batch of one of them")
  func shared() async {
    let tracker = LifetimeTracker()
    do {
      let hub = EventHub<RecordingObserver>()
      let taker = BatchTaker(hub.events().batches(upTo: 16))
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<3 { group.addTask { await taker.takeAll() } }
        group.addTask {
          for number in 0..<2000 {
            hub.send(RecordingObserver(number, tracker: tracker))
            if number % 16 == 0 { await Task.yield() }
          }
          hub.finish()
        }
      }
      #expect(await taker.received.sorted() == Array(0..<2000))
    }
    #expect(tracker.live == 0)
    #expect(tracker.created == 2000)
  }

  @Test(
    "senders on several threads, consumers that come, take some and go", arguments: [1, 5, 256])
  func storm(_ limit: Int) async {
    let tracker = LifetimeTracker()
    let senders = 3
    let events = 1000
    do {
      let hub = EventHub<RecordingObserver>()
      let whole = hub.events().batches(upTo: limit)
      let consumer = Task.detached {
        var counts = Array(repeating: 0, count: senders)
        for await batch in whole {
          #expect(!batch.isEmpty && batch.count <= limit)
          for event in batch {
            // In the order of each sender.
            #expect(event.id % events == counts[event.id / events])
            counts[event.id / events] += 1
          }
        }
        return counts
      }
      let visitors = Task.detached {
        while !Task.isCancelled {
          for await _ in hub.events().batches(upTo: limit) { break }
        }
      }
      let threads = (0..<senders).map { sender in
        RunningThread {
          for event in 0..<events {
            hub.send(RecordingObserver(sender * events + event, tracker: tracker))
          }
        }
      }
      for thread in threads { thread.join() }
      visitors.cancel()
      await visitors.value
      hub.finish()
      #expect(await consumer.value == Array(repeating: events, count: senders))
      #expect(hub.subscriberCount == 0)
    }
    #expect(tracker.live == 0)
    #expect(tracker.created == senders * events)
  }

  @Test("what was not taken is destroyed with the iterator")
  func abandoned() async {
    let tracker = LifetimeTracker()
    let hub = EventHub<RecordingObserver>()
    do {
      let iterator = hub.events().batches(upTo: 3).makeAsyncIterator()
      for number in 0..<10 { hub.send(RecordingObserver(number, tracker: tracker)) }
      #expect(await iterator.next()?.count == 3)
      #expect(tracker.live == 7)
    }
    #expect(tracker.live == 0 && tracker.created == 10)
    #expect(hub.subscriberCount == 0)
  }

  @Test("a consumer that always finds a batch lets other tasks run after at most 64")
  func fairness() async throws {
    let hub = EventHub<Int>()
    let batches = hub.events().batches(upTo: 2)
    hub.send(contentsOf: 0..<10_000)
    hub.finish()
    let before = await BusyTaker().takeAll(batches)
    #expect(try #require(before) <= 64)
  }
}
