import AsyncHTTPClient
import Foundation
import NIOCore
import ServiceLifecycle
import Testing

@testable import FanOutCore

/// Streams of several topics and patterns: `GET /events?topic=…`.
@Suite(.timeLimit(.minutes(5))) struct SeveralTopicsTests {
  /// An event with its topic, as the data of a frame has it.
  private func named(_ topic: String, _ data: String) -> String {
    #"{"topic":"\#(topic)","data":"\#(data)"}"#
  }

  private func after(_ id: UInt64) -> [(String, String)] { [("Last-Event-ID", "\(id)")] }

  @Test func aStreamHasTheEventsOfItsTopicsAndPatterns() async throws {
    try await RunningServer.with { server in
      var stream = try await server.events("topic=a&topic=b.*&topic=orders.%3E")
      let topics = ["a", "b", "b.x", "b.x.y", "orders", "orders.eu", "orders.eu.1", "ab", "a"]
      for (number, topic) in topics.enumerated() {
        try await server.published("\(number)", to: topic)
      }
      let expected = [
        named("a", "0"), named("b.x", "2"), named("orders.eu", "5"), named("orders.eu.1", "6"),
        named("a", "8"),
      ]
      #expect(try await stream.data(5) == expected)
    }
  }

  @Test func anEventIsThereOnceIfSeveralPatternsMatch() async throws {
    try await RunningServer.with { server in
      for query in ["topic=a&topic=a&topic=b", "topic=a&topic=*&topic=%3E&topic=a&topic=*"] {
        var stream = try await server.events(query)
        for text in ["1", "2"] { try await server.published(text, to: "a") }
        #expect(try await stream.data(2) == [named("a", "1"), named("a", "2")])
      }
    }
  }

  @Test func typesAndRetriesStayAndTheDataIsEscaped() async throws {
    try await RunningServer.with { server in
      var plain = try await server.stream("a")
      var stream = try await server.events("topic=a")
      _ = try await plain.nextBlock()
      _ = try await stream.nextBlock()
      let text = "say \"hi\" \\ tab\t bell\u{7} ü 😀\ndata: x\r\nend"
      let answer = try await server.request(
        "POST", "/topics/a?event=price&retry=7", body: .bytes(ByteBuffer(string: text)))
      #expect(answer.status == 200)
      let event = try #require(try await stream.next())
      #expect(event.event == "price" && event.retry == 7)
      let object = try JSONSerialization.jsonObject(with: Data(try #require(event.data).utf8))
      let members = try #require(object as? [String: String])
      #expect(Set(members.keys) == ["topic", "data"] && members["topic"] == "a")
      let single = try #require(try await plain.next())
      #expect(members["data"] == single.data && single.id == event.id)
      #expect(members["data"] == text.replacing("\r\n", with: "\n"))
      try await server.published("", to: "a")
      #expect(try await stream.data(1) == [named("a", "")])
    }
  }

  @Test(arguments: ["topic=a&topic=b", "topic=a&topic=*", "topic=%3E"])
  func oneIDResumesAllTopics(_ query: String) async throws {
    var settings = Settings()
    settings.historyEvents = 300
    try await RunningServer.with(settings) { server in
      let first = try await server.published("0", to: "a")
      let publishing = Task {
        for number in 1...200 {
          try await server.published("\(number)", to: number.isMultiple(of: 3) ? "b" : "a")
        }
      }
      var last = first
      var seen: [String] = []
      while seen.count < 200 {
        var stream = try await server.events(query, headers: after(last))
        for _ in 0..<7 where seen.count < 200 {
          let event = try #require(try await stream.next())
          try #require(event.event == nil, "\(event.data ?? "")")
          last = try #require(event.id)
          seen.append(try #require(event.data))
        }
      }
      try await publishing.value
      #expect(seen == (1...200).map { named($0.isMultiple(of: 3) ? "b" : "a", "\($0)") })
    }
  }

  @Test func aStreamThatIsCutOffBeforeItsFirstEventHasAnID() async throws {
    try await RunningServer.with { server in
      let newest = try await server.published("1", to: "other")
      var stream = try await server.events("topic=a&topic=b.*")
      #expect(try await stream.nextBlock()?.id == newest)
    }
  }

  /// Of one topic events are missing, and those of the other, in the same range, are not.
  @Test(arguments: ["topic=busy&topic=quiet", "topic=busy&topic=*", "topic=%3E"])
  func whatIsMissingIsReportedForEachTopicAndNothingElseIsLost(_ query: String) async throws {
    var settings = Settings()
    settings.historyEvents = 3
    settings.bufferLimit = 3
    try await RunningServer.with(settings) { server in
      let first = try await server.published("0", to: "busy")
      try await server.published("1", to: "quiet")
      for number in 2..<9 { try await server.published("\(number)", to: "busy") }
      var stream = try await server.events(query, headers: after(first))
      let notice = try await stream.next()
      #expect(notice?.event == "missed" && notice?.id == nil)
      #expect(
        notice?.data
          == #"{"reason":"history","topic":"busy","after":\#(first),"through":\#(first + 5)}"#)
      let rest = [named("quiet", "1")] + (6..<9).map { named("busy", "\($0)") }
      #expect(try await stream.data(4) == rest)
    }
  }

  /// A log that the test controls.
  private final class Script: EventLog {
    func publish(_ message: Message, to topic: Topic) async throws(Unavailable) -> Receipt {
      throw Unavailable("the test delivers")
    }

    func run() async throws { try? await gracefulShutdown() }

    var status: LogStatus { LogStatus(kind: "script", isConnected: true) }
  }

  @Test func whatASlowStreamMissesIsReportedForEachTopic() async throws {
    var settings = Settings()
    settings.bufferLimit = 4
    let (allTopics, continuation) = AsyncStream<Topics>.makeStream()
    try await RunningServer.with(
      settings,
      makeLog: { topics in
        topics.begin(after: 0)
        continuation.yield(topics)
        return Script()
      }
    ) { server in
      var iterator = allTopics.makeAsyncIterator()
      let topics = try #require(await iterator.next())
      var stream = try await server.events("topic=a&topic=b")
      _ = try await stream.nextBlock()
      // Meanwhile events wait: four of nine are in the buffer.
      try blockingEventLoops {
        for id in 1...9 as ClosedRange<EventID> {
          let message = try #require(Message(ByteBuffer(string: "\(id)")))
          let topic = try Topic(id == 1 ? "b" : "a", limit: 9)
          topics.deliver(Event(id: id, topic: topic, message: message))
        }
      }
      let notices = try await stream.data(2)
      #expect(
        Set(notices) == [
          #"{"reason":"slow","topic":"a","count":4}"#, #"{"reason":"slow","topic":"b","count":1}"#,
        ])
      #expect(try await stream.data(4) == (6...9).map { named("a", "\($0)") })
    }
  }

  @Test func aStreamOfPatternsGetsWhatTheMemoryHasHoweverSlowItIs() async throws {
    var settings = Settings()
    settings.bufferLimit = 2
    settings.historyEvents = 50
    try await RunningServer.with(settings) { server in
      let client = try await RawClient.connect(port: server.port, receiveBuffer: 4096)
      try await client.send("GET /events?topic=* HTTP/1.1\r\nHost: a\r\n\r\n")
      try await server.wait(until: "streams", is: 1)
      let text = String(repeating: "x", count: 60_000)
      for number in 0..<40 { try await server.published("\(number) \(text)") }
      try await server.published("last", to: "other")
      let received = try await client.read(until: #""data":"last"}"#)
      let numbers = received.split(separator: #""topic":"news","data":""#).dropFirst()
        .map { $0.prefix { $0 != " " } }
      #expect(numbers == (0..<40).map { "\($0)" })
      #expect(!received.contains("missed"))
      await client.close()
    }
  }

  @Test func theNumberOfStreamsOfATopicIncludesThoseOfPatterns() async throws {
    try await RunningServer.with { server in
      func presence(_ topic: String) async throws -> Int? {
        let answer = try await server.request("GET", "/topics/\(topic)")
        #expect(answer.status == 200)
        let object = try JSONSerialization.jsonObject(with: Data(answer.body.utf8))
        #expect((object as? [String: Any])?["topic"] as? String == topic)
        return (object as? [String: Any])?["subscribers"] as? Int
      }
      #expect(try await presence("a.b") == 0)
      let one = try await server.stream("a.b")
      let several = try await server.events("topic=a.b&topic=c")
      let pattern = try await server.events("topic=a.*&topic=a.%3E")
      #expect(try await presence("a.b") == 3)
      #expect(try await presence("c") == 1)
      #expect(try await presence("a.x") == 1)
      #expect(try await presence("a") == 0)
      let answer = try await server.publish("1", to: "a.b")
      #expect(answer.body.contains(#""subscribers":3}"#))
      let list = try await server.request("GET", "/topics")
      #expect(list.body.contains(#""topic":"a.b","subscribers":3,"#))
      withExtendedLifetime((one, several, pattern)) {}
    }
  }

  @Test(arguments: [
    ("", "name the topics"), ("policy=latest", "name the topics"), ("topic=", "number 1"),
    ("topic=a&topic=b%20c", "number 2"), ("topic=a*", "'*' and '>' are names of their own"),
    ("topic=a.%3E.b", "'>' is at the end"), ("topic=a..*", "two of them in a row"),
    ("topic=a&topic=*&policy=latest", "no other policy"),
    ("topic=*&policy=disconnect", "no other policy"), ("topic=a&x=1", "the only parameters"),
    ("topic=a&lastEventId=x", "Last-Event-ID"), ("topic=%C3%A4", "letters"),
    ("topic=" + String(repeating: "x", count: 129), "at most 128"),
    ("topic=*." + String(repeating: "x", count: 128), "at most 128"),
  ])
  func anInvalidRequestIsRefused(_ query: String, _ reason: String) async throws {
    try await RunningServer.with { server in
      let answer = try await server.request("GET", "/events?\(query)")
      #expect(answer.status == 400)
      #expect(answer.body.contains(reason), "\(answer.body)")
    }
  }

  @Test func theNumberOfTopicsIsLimited() async throws {
    var settings = Settings()
    settings.maxStreamTopics = 3
    try await RunningServer.with(settings) { server in
      let query = ["topic=a", "topic=b", "topic=c", "topic=*"]
      _ = try await server.events(query.prefix(3).joined(separator: "&"))
      let answer = try await server.request("GET", "/events?\(query.joined(separator: "&"))")
      #expect(answer.status == 400 && answer.body.contains("at most 3"))
    }
  }

  @Test(arguments: ["latest", "disconnect"])
  func namesMayHaveAPolicy(_ policy: String) async throws {
    try await RunningServer.with { server in
      var stream = try await server.events("topic=a&topic=b&policy=\(policy)")
      try await server.published("1", to: "b")
      #expect(try await stream.data(1) == [named("b", "1")])
    }
  }
}

/// The frames of events with topics.
@Suite struct TopicFrameTests {
  private func event(_ id: EventID, _ text: String) throws -> Event {
    Event(
      id: id, topic: try Topic("a.b", limit: 9),
      message: try #require(Message(ByteBuffer(string: text), type: EventType("x"))))
  }

  @Test func aFrameIsOneChunk() throws {
    let frame = Frame.event(try event(7, "1\n\n2").frame, of: try Topic("a.b", limit: 9))
    let payload = "id: 7\nevent: x\ndata: {\"topic\":\"a.b\",\"data\":\"1\\n\\n2\"}\n\n"
    #expect(String(buffer: Frame.payload(of: frame)) == payload)
    let size = String(payload.utf8.count, radix: 16)
    #expect(String(buffer: frame) == "\(size)\r\n\(payload)\r\n")
  }

  @Test func theFramesThatALoopKeepsAreBounded() throws {
    var frames = TopicFrames()
    let text = String(repeating: "x", count: 50_000)
    for id in 0..<100 {
      let event = try event(EventID(id), text)
      let frame = frames.frame(of: event)
      #expect(frames.frame(of: event) == frame)
      #expect(String(buffer: frame).contains("id: \(id)\n"))
      #expect(frames.bytes <= TopicFrames.byteLimit + 2 * text.utf8.count)
    }
  }
}
