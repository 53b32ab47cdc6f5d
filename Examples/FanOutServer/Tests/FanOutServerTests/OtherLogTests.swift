import FanOutCore
import Multicast
import NIOCore
import ServiceLifecycle
import Testing

/// A server with another log than the local one.
@Suite(.timeLimit(.minutes(5))) struct OtherLogTests {
  /// A log that is away: it answers no question.
  private final class AwayLog: EventLog {
    let whenAsked: AsyncStream<Void>.Continuation

    init(_ whenAsked: AsyncStream<Void>.Continuation) {
      self.whenAsked = whenAsked
    }

    func publish(_ message: Message, to topic: Topic) async throws(Unavailable) -> Receipt {
      throw Unavailable("it is away")
    }

    func page(
      of topics: [String], after position: EventPosition, through last: EventID
    ) async -> ExternalPage<Event>? {
      whenAsked.yield()
      try? await Task.sleep(for: .seconds(3600))
      return nil
    }

    func run() async throws { try? await gracefulShutdown() }

    var status: LogStatus { LogStatus(kind: "away", isConnected: false) }
  }

  /// Otherwise the server would wait for them for the whole time of its shutdown.
  @Test func aStreamThatWaitsForTheLogEndsAtAShutdown() async throws {
    var settings = Settings()
    settings.drain = .hours(1)
    let (questions, whenAsked) = AsyncStream<Void>.makeStream()
    try await RunningServer.with(
      settings,
      makeLog: { topics in
        topics.begin(after: 9)
        return AwayLog(whenAsked)
      },
      { server in
        var stream = try await server.stream(headers: [("Last-Event-ID", "5")])
        #expect(try await stream.nextBlock()?.retry != nil)
        var iterator = questions.makeAsyncIterator()
        await iterator.next()
        await server.shutDown()
        #expect(try await stream.nextBlock()?.retry != nil)
        #expect(try await stream.nextBlock() == nil)
      })
  }

  /// A log that the test controls.
  private final class Script: EventLog {
    let topics: Topics
    /// Delivered when the server shuts down.
    let last: Event?

    init(topics: Topics, last: Event?) {
      self.topics = topics
      self.last = last
    }

    func publish(_ message: Message, to topic: Topic) async throws(Unavailable) -> Receipt {
      throw Unavailable("the test delivers")
    }

    func contains(_ position: EventPosition) async -> Bool? { nil }

    func run() async throws { try? await gracefulShutdown() }

    func drain(within limit: Duration) async {
      if let last { topics.deliver(last) }
    }

    var status: LogStatus { LogStatus(kind: "script", isConnected: true) }
  }

  /// Runs `body` with a server and its topics, which begins after event 0 if it `hasBegun`.
  private func with(
    _ settings: Settings = Settings(), last: Event? = nil, hasBegun: Bool = true,
    _ body: @escaping @Sendable (RunningServer, Topics) async throws -> Void
  ) async throws {
    let (allTopics, continuation) = AsyncStream<Topics>.makeStream()
    try await RunningServer.with(
      settings,
      makeLog: { topics in
        continuation.yield(topics)
        return Script(topics: topics, last: last)
      },
      { server in
        var iterator = allTopics.makeAsyncIterator()
        let topics = try #require(await iterator.next())
        if hasBegun { topics.begin(after: 0) }
        try await body(server, topics)
      })
  }

  private static func event(_ id: EventID) throws -> Event {
    let message = try #require(Message(ByteBuffer(string: "\(id)")))
    return Event(id: id, topic: try Topic("news", limit: 9), message: message)
  }

  private func missed(after id: EventID, through last: EventID) -> String {
    #"{"reason":"history","after":\#(id),"through":\#(last)}"#
  }

  @Test(arguments: ["", "?policy=latest"])
  func aGapIsReportedAlthoughTheNextEventTakesItsBuffer(_ query: String) async throws {
    var settings = Settings()
    settings.bufferLimit = 1
    try await with(settings) { server, topics in
      var stream = try await server.stream(query: query)
      try topics.deliver(Self.event(1))
      #expect(try await stream.data(1) == ["1"])
      // Meanwhile events wait in the buffer, which holds one.
      try blockingEventLoops {
        topics.skip(through: 4)
        topics.skip(through: 7)
        try topics.deliver(Self.event(8))
      }
      let told = [missed(after: 1, through: 4), missed(after: 4, through: 7), "8"]
      #expect(try await stream.data(3) == told)
    }
  }

  @Test func aWrongClaimIsReported() async throws {
    try await with { server, topics in
      try topics.deliver(Self.event(1))
      var right = try await server.stream(headers: [("Last-Event-ID", "3")])
      var wrong = try await server.stream(headers: [("Last-Event-ID", "4")])
      topics.rejectClaims(after: 3, madeBefore: topics.markClaims())
      for id: EventID in 2...4 { try topics.deliver(Self.event(id)) }
      #expect(try await right.data(1) == ["4"])
      let notice = try await wrong.next()
      #expect(notice?.data == missed(after: 4, through: 1))
      #expect(notice?.id == 1)
      #expect(try await wrong.data(3) == ["2", "3", "4"])
    }
  }

  /// Otherwise it would miss what is published while it is disconnected before its first event.
  @Test(arguments: [nil, "topic=news&topic=other", "topic=*"])
  func aClientFromBeforeTheBeginningGetsAnID(_ query: String?) async throws {
    try await with(hasBegun: false) { server, topics in
      var stream =
        if let query {
          try await server.events(query + "&begin=1")
        } else {
          try await server.stream(query: "?begin=1")
        }
      let none = EventReader.Block(event: "begin", data: "{}", retry: 2000)
      #expect(try await stream.nextBlock() == none)
      topics.begin(after: 7)
      var first = none
      first.id = 7
      #expect(try await stream.nextBlock() == first)
      try topics.deliver(Self.event(8))
      #expect(try await stream.nextBlock()?.id == 8)
    }
  }

  /// Also if it is disconnected before the next event, and the new ids pass the old one.
  @Test(arguments: [nil, "topic=news&topic=other", "topic=*"])
  func aClientMissesNothingAfterIDsHaveBegunAgain(_ query: String?) async throws {
    try await with { server, topics in
      func open(_ headers: [(String, String)] = []) async throws -> EventReader {
        guard let query else { return try await server.stream(headers: headers) }
        return try await server.events(query, headers: headers)
      }
      var old = try await open()
      for id: EventID in 1...3 { try topics.deliver(Self.event(id)) }
      for id: EventID in 1...3 { #expect(try await old.next()?.id == id) }
      topics.begin(after: 0)
      let notice = try await old.next()
      #expect(notice?.data == missed(after: 3, through: 0))
      // What a browser sends when it connects again.
      let last = notice?.id ?? 3
      for id: EventID in 1...5 { try topics.deliver(Self.event(id)) }
      var new = try await open([("Last-Event-ID", "\(last)")])
      for id: EventID in 1...5 { #expect(try await new.next()?.id == id) }
    }
  }

  @Test func eventsThatAClientHasAreNotReportedAsMissed() async throws {
    try await with { server, topics in
      var stream = try await server.stream(
        query: "?policy=latest", headers: [("Last-Event-ID", "9")])
      // Each event replaces the one before.
      try blockingEventLoops {
        for id: EventID in 1...9 { try topics.deliver(Self.event(id)) }
      }
      try await server.wait(until: "pending_events", is: 0)
      try topics.deliver(Self.event(10))
      #expect(try await stream.data(1) == ["10"])
    }
  }

  @Test func eventsDeliveredDuringShutdownArrive() async throws {
    try await with(last: Self.event(2)) { server, topics in
      var stream = try await server.stream()
      try topics.deliver(Self.event(1))
      await server.shutDown()
      #expect(try await stream.data(3) == ["1", "2"])
    }
  }
}
