import AsyncHTTPClient
import NIOConcurrencyHelpers
import NIOCore
import ServiceLifecycle
import Testing

@testable import FanOutCore

/// Publications with an id of their publisher, which may be repeated.
@Suite(.timeLimit(.minutes(5))) struct RepeatedPublicationTests {
  private func publish(
    _ server: RunningServer, _ text: String, to topic: String = "news", query: String = "",
    _ key: String? = nil
  ) async throws -> RunningServer.Answer {
    try await server.request(
      "POST", "/topics/\(topic)\(query)", key.map { [("Idempotency-Key", $0)] } ?? [],
      body: .bytes(ByteBuffer(string: text)))
  }

  @Test func aRepeatIsAcknowledgedWithTheFirstIDAndNotPublished() async throws {
    try await RunningServer.with { server in
      var stream = try await server.stream()
      let first = try await publish(server, "1", "k-1")
      #expect(first.status == 200 && !first.body.contains("repeated"))
      let id = first.body.drop { !$0.isNumber }.prefix { $0.isNumber }
      for (query, key) in [("", "k-1"), ("", "\"k-1\""), ("?id=k-1", nil as String?)] {
        let answer = try await publish(server, "other", query: query, key)
        #expect(answer.body == "{\"id\":\(id),\"subscribers\":1,\"repeated\":true}\n")
      }
      let batch =
        #"{"topic":"news","data":"other","id":"k-1"}"# + "\n"
        + #"{"topic":"news","data":"2","id":"k-2"}"#
      let answer = try await server.publish(batch: batch)
      #expect(answer.body.contains(#"{"id":\#(id),"subscribers":1,"repeated":true},"#))
      // The key belongs to its topic.
      #expect(try await !publish(server, "3", to: "other", "k-1").body.contains("repeated"))
      #expect(try await stream.data(2) == ["1", "2"])
      #expect(try await server.metric("published_total") == 3)
    }
  }

  @Test func theHeaderFieldIsAlsoForAnEventThatNamesItsTopic() async throws {
    try await RunningServer.with { (server) async throws -> Void in
      let key = [("Idempotency-Key", "\"k-1\"")]
      let event = #"{"topic":"news","data":"1"}"#
      let first = try await server.publish(batch: event, "application/json", key)
      #expect(first.status == 200 && !first.body.contains("repeated"), "\(first.body)")
      let second = try await server.publish(batch: event, "application/json", key)
      #expect(second.body.contains(#""repeated":true"#), "\(second.body)")
      #expect(try await publish(server, "1", "k-1").body.contains(#""repeated":true"#))
      // One for several events, or a second one, is ambiguous.
      let named = #"{"topic":"news","data":"2","id":"k-2"}"#
      for (text, type) in [(event, "application/x-ndjson"), (named, "application/json")] {
        let answer = try await server.publish(batch: text, type, key)
        #expect(answer.status == 400 && answer.body.contains("Idempotency-Key"), "\(answer.body)")
      }
      #expect(try await server.metric("published_total") == 1)
    }
  }

  /// A store has an id twice if the server remembered fewer ids in between.
  @Test func anIDThatIsStoredTwiceIsRememberedAsTheNewest() async throws {
    let topic = try Topic("news", limit: 9)
    let names = try ["a", "b", "c", "d"].map {
      PublicationKeys.Name(topic: topic, key: try #require(PublicationKey($0)))
    }
    let keys = PublicationKeys(limit: 3)
    for (index, id) in [(0, 1), (1, 2), (0, 3)] as [(Int, UInt64)] {
      keys.restore(names[index], id)
    }
    #expect(await keys.begin([names[2]]).isEmpty)
    keys.end([(names[2], 4)])
    #expect(await keys.begin(Array(names[...2])) == [names[0]: 3, names[1]: 2, names[2]: 4])
    #expect(await keys.begin([names[3]]).isEmpty)
    keys.end([(names[3], 5)])
    // The oldest one is gone.
    #expect(await keys.begin(names) == [names[0]: 3, names[2]: 4, names[3]: 5])
  }

  @Test func onlyTheNewestIDsAreRemembered() async throws {
    var settings = Settings()
    settings.rememberedKeys = 3
    try await RunningServer.with(settings) { server in
      for key in ["a", "b", "c", "b", "d"] { _ = try await publish(server, key, key) }
      // 'a' has left.
      for key in ["b", "c", "d"] {
        #expect(try await publish(server, key, key).body.contains("repeated"))
      }
      #expect(try await !publish(server, "a", "a").body.contains("repeated"))
      #expect(try await !publish(server, "b", "b").body.contains("repeated"))
    }
  }

  @Test(arguments: ["", "a b", "\"", "ä", "a\\b", "\"a", String(repeating: "x", count: 129)])
  func anInvalidIDIsRefused(_ key: String) async throws {
    try await RunningServer.with { (server) async throws -> Void in
      let encoded = key.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
      #expect(try await publish(server, "x", query: "?id=\(encoded)").status == 400)
      if key.utf8.allSatisfy({ $0 < 0x80 }) {
        #expect(try await publish(server, "x", key).status == 400, "\(key)")
      }
      #expect(try await publish(server, "x", query: "?id=a", "a").status == 400)
      #expect(try await server.metric("published_total") == 0)
    }
  }

  /// A log whose first publications wait, and fail or succeed.
  private final class Gated: EventLog {
    enum Outcome { case stored, failed }

    private let topics: Topics
    private let started: AsyncStream<Void>.Continuation
    private let outcomes: AsyncStream<Outcome>
    private let last = NIOLockedValueBox<EventID>(0)

    init(
      _ topics: Topics, _ started: AsyncStream<Void>.Continuation, _ outcomes: AsyncStream<Outcome>
    ) {
      self.topics = topics
      self.started = started
      self.outcomes = outcomes
      topics.begin(after: 0)
    }

    func publish(_ message: Message, to topic: Topic) async throws(Unavailable) -> Receipt {
      started.yield()
      var iterator = outcomes.makeAsyncIterator()
      let outcome = await iterator.next()
      guard outcome == .stored else { throw Unavailable("the test says so") }
      let id = last.withLockedValue { last in
        last += 1
        return last
      }
      let event = Event(id: id, topic: topic, message: message)
      return Receipt(id: id, subscribers: topics.deliver(event) ?? 0)
    }

    func run() async throws { try? await gracefulShutdown() }

    var status: LogStatus { LogStatus(kind: "gated", isConnected: true) }
  }

  /// If the stream of a broker is deleted, its events are gone, with their ids.
  @Test func anEventThatIsGoneIsPublishedAgain() async throws {
    let (outcomes, outcome) = AsyncStream<Gated.Outcome>.makeStream()
    let (allTopics, continuation) = AsyncStream<Topics>.makeStream()
    let (_, started) = AsyncStream<Void>.makeStream()
    try await RunningServer.with(
      makeLog: { topics in
        continuation.yield(topics)
        return Gated(topics, started, outcomes)
      },
      { server in
        var iterator = allTopics.makeAsyncIterator()
        let topics = try #require(await iterator.next())
        for key in ["a", "b", "b"] {
          outcome.yield(.stored)
          #expect(try await !publish(server, key, key).body.contains("repeated"))
          #expect(try await publish(server, key, key).body.contains(#""repeated":true"#))
          // Event 1 is still there, and then those after it are not.
          topics.begin(after: 1)
          #expect(try await publish(server, "a", "a").body.contains(#"{"id":1,"#))
        }
        #expect(try await server.metric("published_total") == 3)
      })
  }

  /// While an event is being published, a repeat waits for the result. After a failure it is a
  /// publication of its own.
  @Test(arguments: [true, false])
  func aRepeatWaitsForTheFirst(_ isStored: Bool) async throws {
    let (starts, started) = AsyncStream<Void>.makeStream()
    let (outcomes, outcome) = AsyncStream<Gated.Outcome>.makeStream()
    try await RunningServer.with(makeLog: { Gated($0, started, outcomes) }) { server in
      var iterator = starts.makeAsyncIterator()
      async let first = publish(server, "1", "k")
      _ = await iterator.next()
      async let second = publish(server, "1", "k")
      if isStored {
        outcome.yield(.stored)
        let bodies = [try await first.body, try await second.body]
        #expect(bodies[0] == "{\"id\":1,\"subscribers\":0}\n")
        #expect(bodies[1] == "{\"id\":1,\"subscribers\":0,\"repeated\":true}\n")
      } else {
        outcome.yield(.failed)
        #expect(try await first.status == 503)
        _ = await iterator.next()
        outcome.yield(.stored)
        #expect(try await second.body == "{\"id\":1,\"subscribers\":0}\n")
      }
      #expect(try await server.metric("published_total") == 1)
    }
  }

  /// Batches whose ids overlap in another order do not wait for each other.
  @Test func overlappingBatchesPublishEachEventOnce() async throws {
    try await RunningServer.with { server in
      let ids = (0..<20).map { "k\($0)" }
      try await withThrowingTaskGroup { group in
        for seed in 0..<16 as Range<UInt64> {
          group.addTask {
            var random = SplitMix64(seed: seed)
            let batch = ids.shuffled(using: &random)
              .map { #"{"topic":"a","data":"\#($0)","id":"\#($0)"}"# }.joined(separator: "\n")
            let answer = try await server.publish(batch: batch)
            #expect(answer.status == 200)
          }
        }
        try await group.waitForAll()
      }
      #expect(try await server.metric("published_total") == ids.count)
    }
  }
}
