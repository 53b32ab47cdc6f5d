import MulticastTestSupport
import Testing

@testable import Multicast

/// A task that takes a batch on demand: a flush does not wait for what the calling task
/// took.
private struct Taker {
  private let requests: AsyncStream<Void>.Continuation
  private var batches: AsyncStream<[Int]>.Iterator
  private let task: Task<Void, Never>

  init(_ sequence: EventSequence<Int>.Batches) {
    let (requested, requests) = AsyncStream.makeStream(of: Void.self)
    let (batches, taken) = AsyncStream.makeStream(of: [Int].self)
    self.requests = requests
    self.batches = batches.makeAsyncIterator()
    task = Task {
      let iterator = sequence.makeAsyncIterator()
      for await _ in requested {
        guard let batch = await iterator.next() else { break }
        taken.yield(batch)
      }
    }
  }

  mutating func take() async -> [Int]? {
    requests.yield()
    return await batches.next(isolation: #isolation)
  }

  func end() async {
    requests.finish()
    await task.value
  }
}

@Suite("A sequence in batches: as many events at once as wait, in order, up to the limit")
struct BatchTests {
  @Test("as many as wait, in order, up to the limit", arguments: [1, 2, 7, 100])
  func asManyAsWait(_ limit: Int) async {
    let hub = EventHub<Int>()
    let iterator = hub.events().batches(upTo: limit).makeAsyncIterator()
    hub.send(contentsOf: 0..<7)
    var expected = Array(0..<7)
    while !expected.isEmpty {
      let batch = Array(expected.prefix(limit))
      #expect(await iterator.next() == batch)
      expected.removeFirst(batch.count)
    }
    hub.send(contentsOf: 7..<9)
    #expect(await iterator.next() == (limit == 1 ? [7] : [7, 8]))
  }

  @Test("what arrives between two batches joins the next one, though the limit left some before")
  func joined() async {
    let hub = EventHub<Int>()
    let iterator = hub.events().batches(upTo: 3).makeAsyncIterator()
    hub.send(contentsOf: 0..<4)
    #expect(await iterator.next() == [0, 1, 2])
    hub.send(contentsOf: 4..<6)
    #expect(await iterator.next() == [3, 4, 5])
  }

  @Test("never empty: a consumer that finds nothing waits for an event")
  func neverEmpty() async {
    let hub = EventHub<Int>()
    let batches = hub.events().batches(upTo: 256)
    async let received: [Int] = {
      var received: [Int] = []
      for await batch in batches {
        #expect(!batch.isEmpty)
        received += batch
      }
      return received
    }()
    for event in 0..<1000 {
      hub.send(event)
      if event % 7 == 0 { await Task.yield() }
    }
    hub.finish()
    #expect(await received == Array(0..<1000))
  }

  @Test(
    "they end as the sequence does: after the events that wait, or at once if the task is cancelled"
  )
  func end() async {
    let hub = EventHub<Int>()
    let iterator = hub.events().batches(upTo: 2).makeAsyncIterator()
    hub.send(contentsOf: 0..<3)
    hub.finish()
    #expect(await iterator.next() == [0, 1])
    #expect(await iterator.next() == [2])
    #expect(await iterator.next() == nil)
    #expect(await iterator.next() == nil)
    #expect(iterator.end == .finished)

    let other = EventHub<Int>()
    let statistics = await Task {
      let iterator = other.events().batches(upTo: 2).makeAsyncIterator()
      other.send(contentsOf: 0..<3)
      #expect(await iterator.next() == [0, 1])
      withUnsafeCurrentTask { $0?.cancel() }
      #expect(await iterator.next() == nil)
      #expect(iterator.end == .cancelled)
      return iterator.statistics
    }.value
    #expect(statistics.delivered == 2 && statistics.discarded == 1 && statistics.pending == 0)
    #expect(other.subscriberCount == 0)
  }

  @Test("a sleeping consumer ends when it is cancelled, and when the buffer disconnects it")
  func endWhileAsleep() async {
    let hub = EventHub<Int>()
    let batches = hub.events().batches(upTo: 2)
    let consumer = Task {
      var count = 0
      for await batch in batches { count += batch.count }
      return count
    }
    await Task.yield()
    consumer.cancel()
    #expect(await consumer.value == 0)
    #expect(hub.subscriberCount == 0)

    let iterator = hub.events(buffering: .bounded(2, whenFull: .disconnect)).batches(upTo: 9)
      .makeAsyncIterator()
    hub.send(contentsOf: 0..<3)
    #expect(await iterator.next() == [0, 1])
    #expect(await iterator.next() == nil)
    #expect(iterator.end == .disconnected)
  }

  @Test("the events of a batch have left the buffer, and count as delivered")
  func delivered() async {
    let hub = EventHub<Int>()
    let iterator = hub.events(buffering: .bounded(2, whenFull: .dropOldest)).batches(upTo: 9)
      .makeAsyncIterator()
    hub.send(contentsOf: 0..<3)
    #expect(iterator.statistics.dropped == 1 && iterator.statistics.pending == 2)
    #expect(await iterator.next() == [1, 2])
    #expect(iterator.statistics.delivered == 2 && iterator.statistics.pending == 0)
    hub.send(contentsOf: 3..<5)
    #expect(iterator.statistics.dropped == 1)
    #expect(await iterator.next() == [3, 4])
    #expect(iterator.statistics.delivered == 4)
  }

  @Test("a sender that waits for space continues when a batch was taken")
  func waitingSenders() async {
    let hub = EventHub<Int>()
    let iterator = hub.events(buffering: .bounded(2, whenFull: .suspend)).batches(upTo: 2)
      .makeAsyncIterator()
    async let senders: Void = {
      for event in 0..<100 { #expect(await hub.sendWaiting(event)) }
      hub.finish()
    }()
    var received: [Int] = []
    while let batch = await iterator.next() {
      #expect((1...2).contains(batch.count))
      received += batch
    }
    await senders
    #expect(received == Array(0..<100))
  }

  @Test("with coalescing: the newest event of each key")
  func coalescing() async {
    let hub = EventHub<Int>()
    let iterator = hub.events(buffering: .coalescing { $0 % 2 }).batches(upTo: 9)
      .makeAsyncIterator()
    hub.send(contentsOf: 0..<6)
    #expect(await iterator.next() == [4, 5])
    hub.send(contentsOf: 6..<9)
    #expect(await iterator.next() == [8, 7])
  }

  @Test("a batch is handled when the next one is requested, or the iteration ends")
  func flush() async {
    let hub = EventHub<Int>()
    do {
      var taker = Taker(hub.events().batches(upTo: 2))
      hub.send(contentsOf: 0..<3)
      #expect(await taker.take() == [0, 1])
      #expect(!isFlushed(hub))
      #expect(await taker.take() == [2])
      #expect(!isFlushed(hub))
      let flush = Task { await hub.flush() }
      await eventually { hub.flushCounts == [1] }
      hub.send(3)
      #expect(await taker.take() == [3])
      await flush.value
      #expect(!isFlushed(hub))
      await taker.end()
    }
    #expect(isFlushed(hub))
  }

  @Test("no batch has events that were sent after a flush began, with events that were sent before")
  func flushBoundary() async {
    let hub = EventHub<Int>()
    let iterator = hub.events().batches(upTo: 9).makeAsyncIterator()
    hub.send(contentsOf: 0..<3)
    let flush = Task { await hub.flush() }
    await eventually { hub.flushCounts == [1] }
    hub.send(contentsOf: 3..<5)
    #expect(await iterator.next() == [0, 1, 2])
    #expect(await iterator.next() == [3, 4])
    await flush.value
  }

  @Test("of a topic, and of all topics")
  func topics() async {
    let hub = TopicHub<String, Int>()
    let one = hub.events(for: "one").batches(upTo: 9).makeAsyncIterator()
    let all = hub.allTopics.events().batches(upTo: 9).makeAsyncIterator()
    for event in 0..<3 { hub.send(event, to: event == 1 ? "two" : "one") }
    #expect(await one.next() == [0, 2])
    #expect(await all.next()?.map(\.event) == [0, 1, 2])
    hub.finish("one")
    #expect(await one.next() == nil)
  }

  @Test("a replay is in the first batch")
  func replay() async {
    let hub = EventHub<Int>(replay: 2)
    hub.send(contentsOf: 0..<3)
    let iterator = hub.events().batches(upTo: 9).makeAsyncIterator()
    hub.send(3)
    #expect(await iterator.next() == [1, 2, 3])
  }

  @Test("a limit below 1 is refused", arguments: [false, true])
  func badLimit(_ notes: Bool) async throws {
    let result =
      notes
      ? await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        _ = EventHub<Int>().events().notingDrops().batches(upTo: 0)
      }
      : await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        _ = EventHub<Int>().events().batches(upTo: -1)
      }
    let message = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(message.contains("a batch of up to \(notes ? 0 : -1) events"))
    #expect(message.contains("at least 1"))
  }
}

/// Checks once, without waiting.
private func isFlushed(_ hub: EventHub<Int>) -> Bool { hub.flush(timeout: .zero) }
