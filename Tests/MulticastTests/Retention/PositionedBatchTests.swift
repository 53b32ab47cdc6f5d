import Multicast
import MulticastTestSupport
import Testing

@Suite("A sequence with positions in batches: as many events at once as the consumer finds")
struct PositionedBatchTests {
  @Test("in order, up to the limit, each with its position", arguments: [1, 2, 7, 1_000])
  func inOrder(_ limit: Int) async throws {
    let hub = EventHub<Int>(retention: .last(1_000))
    let positions = (0..<700).map { hub.publish($0)! }
    var iterator = hub.events(from: .retained).batches(upTo: limit).makeAsyncIterator()
    var received: [PositionedEvent<Int>] = []
    while received.count < 700, let batch = await iterator.next() {
      #expect(batch.missed == nil)
      #expect((1...min(limit, 256)).contains(batch.events.count))
      received += batch.elements
      #expect(batch.position == received.last?.position)
    }
    #expect(received == (0..<700).map { .event($0, at: positions[$0]) })
  }

  @Test("what was missed comes with the first events after it, or alone")
  func missed() async throws {
    let hub = EventHub<Int>(retention: .last(3))
    let first = hub.publish(0)!
    var iterator = hub.events(from: .after(first)).batches(upTo: 2).makeAsyncIterator()
    let positions = (1...9).map { hub.publish($0)! }
    var batch = try #require(await iterator.next())
    #expect(batch.missed == MissedEvents(after: first, through: positions[5]))
    #expect(batch.events == [7, 8] && batch.position == positions[7])
    batch = try #require(await iterator.next())
    #expect(batch.missed == nil && batch.events == [9] && batch.position(at: 0) == positions[8])

    let other = EventHub<Int>(retention: .last(3), epoch: 5)
    var late = other.events(from: .after(first)).batches(upTo: 2).makeAsyncIterator()
    batch = try #require(await late.next())
    let beginning = EventPosition(epoch: 5, number: 0)
    #expect(batch.missed == MissedEvents(after: first, through: beginning))
    #expect(batch.events.isEmpty && batch.position == beginning)
    other.send(1)
    batch = try #require(await late.next())
    #expect(batch.missed == nil && batch.events == [1])
  }

  @Test("batches of more than half a read are filled as long as there are events")
  func full() async {
    let hub = EventHub<Int>(retention: .last(1_000))
    for event in 0..<1_000 { hub.send(event) }
    hub.finish()
    var sizes: [Int] = []
    for await batch in hub.events(from: .retained).batches(upTo: 150) {
      sizes.append(batch.events.count)
    }
    #expect(sizes == [150, 150, 150, 150, 150, 150, 100])
  }

  @Test("with a filter, each event keeps its position, and a batch has an event")
  func filtered() async throws {
    let hub = EventHub<Int>(retention: .last(1_000))
    var iterator = hub.events(from: .live) { $0 % 3 == 1 || $0 >= 90 }.batches(upTo: 256)
      .makeAsyncIterator()
    let positions = (0..<100).map { hub.publish($0)! }
    let expected = (0..<100).filter { $0 % 3 == 1 || $0 >= 90 }
    let batch = try #require(await iterator.next())
    #expect(batch.events == expected)
    #expect(batch.events.indices.map { batch.position(at: $0) } == expected.map { positions[$0] })
    // The first read finds none that the filter accepts.
    for event in 0..<300 { hub.send(event % 2 * 3) }
    let last = hub.publish(7)!
    let next = try #require(await iterator.next())
    #expect(next.events == [7] && next.position == last)
  }

  @Test("with keys, the events that are left have their positions")
  func keys() async throws {
    let hub = EventHub<Int>(retention: .latestPerKey { $0 < 5 ? $0 : 5 + $0 % 3 })
    let positions = (0..<25).map { hub.publish($0)! }
    var iterator = hub.events(from: .retained).batches(upTo: 6).makeAsyncIterator()
    let first = await iterator.next()
    #expect(
      first?.elements == [0, 1, 2, 3, 4, 22].map { .event($0, at: positions[$0]) })
    #expect(first?.position == positions[22])
    #expect(await iterator.next()?.elements == [23, 24].map { .event($0, at: positions[$0]) })
  }

  @Test(
    "they end as the sequence does: after what is retained, or at once if the task is cancelled")
  func end() async throws {
    let hub = EventHub<Int>(retention: .last(10))
    var iterator = hub.events(from: .live).batches(upTo: 2).makeAsyncIterator()
    for event in 0..<3 { hub.send(event) }
    hub.finish()
    #expect(await iterator.next()?.events == [0, 1])
    #expect(await iterator.next()?.events == [2])
    #expect(await iterator.next() == nil)
    #expect(await iterator.next() == nil)
    #expect(iterator.end == .finished)

    let other = EventHub<Int>(retention: .last(10))
    await Task {
      var iterator = other.events(from: .live).batches(upTo: 2).makeAsyncIterator()
      for event in 0..<3 { other.send(event) }
      #expect(await iterator.next()?.events == [0, 1])
      withUnsafeCurrentTask { $0?.cancel() }
      #expect(await iterator.next() == nil)
      #expect(iterator.end == .cancelled)
    }.value
    #expect(other.subscriberCount == 0)
  }

  @Test("the events of a batch count as handled when the next batch is requested")
  func flush() async throws {
    let hub = EventHub<Int>(retention: .last(10))
    let (requested, requests) = AsyncStream.makeStream(of: Void.self)
    let taken = Counter()
    let batches = hub.events(from: .live).batches(upTo: 2)
    let consumer = Task {
      var iterator = batches.makeAsyncIterator()
      for await _ in requested {
        guard let batch = await iterator.next() else { break }
        taken.add(batch.events.count)
      }
    }
    for event in 0..<3 { hub.send(event) }
    let flushed = Counter()
    requests.yield()
    await eventually { taken.value == 2 }
    #expect(await onOwnThread { !hub.flush(timeout: .milliseconds(1)) })
    let flush = Task {
      await hub.flush()
      flushed.add()
    }
    requests.yield()
    await eventually { taken.value == 3 }
    #expect(flushed.value == 0)
    #expect(await onOwnThread { !hub.flush(timeout: .milliseconds(1)) })
    requests.yield()
    await flush.value
    #expect(flushed.value == 1 && taken.value == 3)
    hub.finish()
    requests.finish()
    await consumer.value
  }

  @Test("every consumer gets every event of concurrent senders once, and nothing is left behind")
  func concurrent() async {
    let tracker = LifetimeTracker()
    do {
      let hub = EventHub<Tracked>(retention: .last(100_000))
      let consumers = (0..<10).map { index in
        let batches = hub.events(from: .live).batches(upTo: index * index + 1)
        return Task.detached {
          var next = [0, 0, 0]
          var number: UInt64 = 0
          for await batch in batches {
            for index in batch.events.indices {
              let event = batch.events[index]
              #expect(next[event.sender] == event.index)
              next[event.sender] += 1
              number += 1
              #expect(batch.position(at: index).number == number)
            }
          }
          return next
        }
      }
      let senders = (0..<3).map { sender in
        RunningThread { for event in 0..<2_000 { hub.send(Tracked(sender, event, tracker)) } }
      }
      for sender in senders { sender.join() }
      hub.finish()
      for consumer in consumers { #expect(await consumer.value == [2_000, 2_000, 2_000]) }
    }
    await eventually { tracker.live == 0 }
    #expect(tracker.created == 6_000)
  }

  @Test("tasks of one actor that await one iterator: each event is in one batch of one of them")
  func shared() async {
    let hub = EventHub<Int>(retention: .last(10_000))
    let taker = PositionedBatchTaker(hub.events(from: .live).batches(upTo: 16))
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<3 { group.addTask { await taker.takeAll() } }
      group.addTask {
        for number in 0..<2000 {
          hub.send(number)
          if number % 16 == 0 { await Task.yield() }
        }
        hub.finish()
      }
    }
    #expect(await taker.received.sorted() == Array(0..<2000))
  }

  @Test("a limit below 1, and an index that the batch does not have, are refused")
  func badArguments() async throws {
    var result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = EventHub<Int>(retention: .last(1)).events(from: .live).batches(upTo: 0)
    }
    var message = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(message.contains("a batch of up to 0 events"))
    result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let hub = EventHub<Int>(retention: .last(1))
      hub.send(1)
      var iterator = hub.events(from: .retained).batches(upTo: 1).makeAsyncIterator()
      _ = await iterator.next()?.position(at: 1)
    }
    message = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(message.contains("a batch of 1 events has none at 1"))
  }
}

/// An actor, several tasks of which await the next batch of copies of one iterator.
private actor PositionedBatchTaker {
  private let iterator: PositionedSequence<Int>.Batches.Iterator
  private(set) var received: [Int] = []

  init(_ sequence: PositionedSequence<Int>.Batches) {
    iterator = sequence.makeAsyncIterator()
  }

  func takeAll() async {
    var iterator = iterator
    while let batch = await iterator.next() {
      #expect(!batch.events.isEmpty)
      received += batch.events
    }
  }
}

/// An event whose lifetime is observed.
private final class Tracked: Sendable {
  let sender: Int
  let index: Int
  private let tracker: LifetimeTracker

  init(_ sender: Int, _ index: Int, _ tracker: LifetimeTracker) {
    self.sender = sender
    self.index = index
    self.tracker = tracker
    tracker.noteCreation()
  }

  deinit { tracker.noteDestruction() }
}
