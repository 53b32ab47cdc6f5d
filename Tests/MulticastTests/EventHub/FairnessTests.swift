import Multicast
import MulticastTestSupport
import Testing

/// An actor that consumes, and on which another job waits.
private actor Consumer {
  private var results = 0
  /// The number of results when the job ran.
  private var resultsBefore: Int?

  /// Calls `next` `count` times, after a job was put behind this one.
  func consume(_ count: Int, _ next: () async -> Void) async -> Int? {
    Task { resultsBefore = results }
    while results < count {
      await next()
      results += 1
    }
    return resultsBefore
  }

  /// Calls `next`, which returns its number of results, until there are `count`. Puts a job behind
  /// this one after the first call: the first request of an iterator may yield for others on the
  /// thread, however few results it has had itself.
  func takeSeveral(_ count: Int, _ next: () async -> Int) async -> Int? {
    results += await next()
    Task { resultsBefore = results }
    while results < count { results += await next() }
    return resultsBefore
  }

  func takeAll(_ sequence: EventSequence<Int>) async -> Int? {
    Task { resultsBefore = results }
    for await _ in sequence { results += 1 }
    return resultsBefore
  }
}

/// An external log that has every event of each range, and never suspends.
private struct ReadyLog: ExternalLog {
  let pageLimit: UInt64

  func page(
    of topics: [String], after position: EventPosition, through last: UInt64
  ) async -> ExternalPage<Int>? {
    let end = min(last, position.number + pageLimit)
    let numbers = position.number + 1...end
    return ExternalPage(
      numbers.map { .init(topic: topics[0], event: Int($0), number: $0) }, through: end)
  }

  func contains(_ position: EventPosition) async -> Bool? { true }
}

@Suite("A task that always finds something lets others run after at most 64 results")
struct FairnessTests {
  @Test("while a million events wait")
  func million() async throws {
    let hub = EventHub<Int>()
    let sequence = hub.events()
    for event in 0..<1_000_000 { hub.send(event) }
    hub.finish()
    let before = await Consumer().takeAll(sequence)
    #expect(try #require(before) <= 64)
  }

  @Test("while events wait in a buffer of any size", arguments: [1, 7, 63, 64, 65])
  func limits(_ limit: Int) async throws {
    let hub = EventHub<Int>()
    let iterator = hub.events(buffering: .bounded(limit, whenFull: .dropOldest)).makeAsyncIterator()
    let before = await Consumer().consume(1000) {
      hub.send(1)
      _ = await iterator.next()
    }
    #expect(try #require(before) <= 64)
  }

  @Test("notes count too")
  func notes() async throws {
    let hub = EventHub<Int>()
    var iterator = hub.events(buffering: .latest).notingDrops().makeAsyncIterator()
    let before = await Consumer().consume(1000) {
      hub.send(contentsOf: 0..<2)
      _ = await iterator.next()
    }
    #expect(try #require(before) <= 64)
  }

  @Test("at the end, also of a task that is cancelled", arguments: [false, true])
  func end(_ isCancelled: Bool) async throws {
    let hub = EventHub<Int>()
    let before = await Task {
      let iterator = hub.events().makeAsyncIterator()
      if isCancelled { withUnsafeCurrentTask { $0?.cancel() } } else { hub.finish() }
      return await Consumer().consume(1000) { _ = await iterator.next() }
    }.value
    #expect(try #require(before) <= 64)
  }

  @Test("with a new iterator for each event, or the end", arguments: 0..<4)
  func newIterators(_ kind: Int) async throws {
    let hub = EventHub<Int>(replay: 1)
    let topics = TopicHub<Int, Int>()
    hub.send(1)
    topics.finish()
    if kind == 2 { hub.finish() }
    let before = await Consumer().consume(1000) {
      switch kind {
      case 0: for await _ in hub.events().notingDrops() { break }
      case 1, 2: _ = await hub.first { $0 == 1 || kind == 2 }
      default: _ = await topics.first(for: 1) { _ in true }
      }
    }
    #expect(try #require(before) <= 64)
  }

  @Test("a wait of no time that finds nothing")
  func waitsOfNoTime() async throws {
    let hub = EventHub<Int>()
    let iterator = hub.events().makeAsyncIterator()
    let before = await Consumer().consume(1000) { _ = await iterator.next(timeout: .zero) }
    #expect(try #require(before) <= 64)
    withExtendedLifetime(hub) {}
  }

  @Test("a new iterator of a hub that is gone, with and without positions", arguments: 0..<4)
  func goneHub(_ kind: Int) async throws {
    let sequences = {
      let hub = EventHub<Int>(retention: .all)
      let topics = TopicHub<String, Int>(retention: .all)
      return (hub.events(), hub.events(from: .live), topics.events(for: ["a"], from: .live))
    }()
    let before = await Consumer().consume(1000) {
      switch kind {
      case 0: for await _ in sequences.0 {}
      case 1: for await _ in sequences.1 {}
      case 2: for await _ in sequences.1.batches(upTo: 10) {}
      default: for await _ in sequences.2 {}
      }
    }
    #expect(try #require(before) <= 64)
  }

  @Test(
    "with positions: before 512 events, of a hub or of topics, one by one or in batches",
    arguments: 0..<4)
  func positions(_ kind: Int) async throws {
    let hub = EventHub<Int>(retention: .all)
    let topics = TopicHub<String, Int>(retention: .all)
    for event in 0..<3000 {
      hub.send(event)
      topics.send(event, to: "\(event % 2)")
    }
    var single = hub.events(from: .retained).makeAsyncIterator()
    var batches = hub.events(from: .retained).batches(upTo: 100).makeAsyncIterator()
    var ofTopics = topics.events(for: ["0", "1"], from: .retained).makeAsyncIterator()
    var ofPattern = topics.events(matching: [">"], from: .retained).makeAsyncIterator()
    let before = await Consumer().takeSeveral(3000) {
      switch kind {
      case 0: return await single.next() == nil ? 0 : 1
      case 1: return await batches.next()?.events.count ?? 0
      case 2: return await ofTopics.next() == nil ? 0 : 1
      default: return await ofPattern.next() == nil ? 0 : 1
      }
    }
    let count = try #require(before)
    #expect(count > 64 && count < 512)
  }

  @Test("with positions: before 512 missed ranges of topics")
  func missedRanges() async throws {
    let topics = TopicHub<String, Int>(retention: .last(1))
    let names = (0..<3000).map(String.init)
    let sequence = topics.events(for: names, from: .live)
    for name in names + names { topics.send(1, to: name) }
    var events = sequence.makeAsyncIterator()
    let before = await Consumer().takeSeveral(3000) {
      if case .missed? = await events.next() { 1 } else { 0 }
    }
    let count = try #require(before)
    #expect(count > 64 && count < 512)
  }

  @Test("with positions: an external log whose pages are there at once", arguments: [1, 100, 3000])
  func pages(limit: UInt64) async throws {
    var writer: ExternalLogWriter<Int>?
    let topics = TopicHub<String, Int>(retention: .last(1)) {
      writer = $0
      return ReadyLog(pageLimit: limit)
    }
    writer?.begin(epoch: 7, after: 3000)
    var events = topics.events(for: "a", from: .after(EventPosition(epoch: 7, number: 0)))
      .makeAsyncIterator()
    let before = await Consumer().takeSeveral(3000) { await events.next() == nil ? 0 : 1 }
    #expect(try #require(before) < 512)
  }

  @Test("sendWaiting: with space, without subscribers, after the end", arguments: 0..<5)
  func sendWaiting(_ kind: Int) async throws {
    let hub = EventHub<Int>()
    let topics = TopicHub<Int, Int>()
    let sequence = kind == 0 ? hub.events() : nil
    if kind == 2 { hub.finish() }
    if kind == 4 { topics.finish() }
    let before = await Consumer().consume(1000) {
      if kind < 3 { await hub.sendWaiting(1) } else { await topics.sendWaiting(1, to: 1) }
    }
    #expect(try #require(before) <= 64)
    withExtendedLifetime(sequence) {}
  }
}
