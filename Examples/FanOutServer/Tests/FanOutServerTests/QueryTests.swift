import AsyncHTTPClient
import FanOutCore
import NIOCore
import Testing

@Suite(.timeLimit(.minutes(5))) struct QueryTests {
  @Test(arguments: [
    "lastEventId=#", "lastEventID=#", "last-event-id=#", "lasteventid=#&policy=latest",
    "policy=dropOldest&lastEventId=#", "last%45ventId=#",
  ])
  func aQueryMayHaveTheLastEventID(_ query: String) async throws {
    try await RunningServer.with { server in
      let first = try await server.published("1")
      try await server.published("2")
      let query = "?" + query.replacing("#", with: "\(first)")
      // An empty header field is as none.
      for headers in [[], [("Last-Event-ID", "")]] {
        var stream = try await server.stream(query: query, headers: headers)
        #expect(try await stream.data(1) == ["2"], "\(query)")
      }
    }
  }

  /// A browser keeps the query when it reconnects, so the header field is newer.
  @Test func theHeaderFieldCountsBeforeTheQuery() async throws {
    try await RunningServer.with { server in
      let first = try await server.published("1")
      let second = try await server.published("2")
      try await server.published("3")
      var stream = try await server.stream(
        query: "?lastEventId=\(first)", headers: [("Last-Event-ID", "\(second)")])
      #expect(try await stream.data(1) == ["3"])
    }
  }

  @Test(arguments: ["", "?lastEventId=", "?lastEventId"])
  func anEmptyLastEventIDIsAsNone(_ query: String) async throws {
    try await RunningServer.with { server in
      try await server.published("1")
      var stream = try await server.stream(query: query, headers: [("Last-Event-ID", "")])
      try await server.published("2")
      #expect(try await stream.data(1) == ["2"])
    }
  }

  @Test(arguments: [
    "?lastEventId=x", "?lastEventId=-1", "?lastEventId=+1", "?lastEventId=1&lastEventID=2",
    "?lastEventId=18446744073709551616", "?lastEventId=%3", "?lastEventId=%ff", "?lastEventId=%+1",
  ])
  func anInvalidLastEventIDIsRefused(_ query: String) async throws {
    try await RunningServer.with { server in
      let answer = try await server.request("GET", "/topics/a/events\(query)")
      #expect(answer.status == 400)
    }
  }

  @Test(arguments: [
    ("LASTEVENTID=1&lastEventId=2", "there is more than one 'lastEventId'"),
    ("begin=2", "the only value of 'begin' is 1"),
  ])
  func aRefusalNamesTheParameter(_ query: String, _ reason: String) async throws {
    try await RunningServer.with { server in
      let answer = try await server.request("GET", "/topics/a/events?\(query)")
      #expect(answer.status == 400 && answer.body.contains(reason), "\(answer.body)")
    }
  }

  @Test func aPublisherMaySetTheTypeAndTheRetry() async throws {
    try await RunningServer.with { server in
      let first = try await server.published("0")
      var stream = try await server.stream()
      _ = try await stream.nextBlock()
      for query in ["event=price", "retry=50", "retry=0&event=a.b-c_d~E"] {
        let answer = try await server.request(
          "POST", "/topics/news?\(query)", body: .bytes(ByteBuffer(string: "x")))
        #expect(answer.status == 200, "\(answer.body)")
      }
      let blocks = [
        EventReader.Block(id: first + 1, event: "price", data: "x"),
        EventReader.Block(id: first + 2, data: "x", retry: 50),
        EventReader.Block(id: first + 3, event: "a.b-c_d~E", data: "x", retry: 0),
      ]
      for block in blocks { #expect(try await stream.next() == block) }
      // A replay has them too.
      var replay = try await server.stream(headers: [("Last-Event-ID", "\(first)")])
      for block in blocks { #expect(try await replay.next() == block) }
    }
  }

  @Test(arguments: [
    "event=", "event", "event=a%0Ab", "event=a b",
    "event=begin", "event=missed", "event=disconnected",
    "event=a&event=b", "event=ä", "retry=", "retry=x", "retry=-1", "retry=3600001", "retry=1.5",
    "x=1", "policy=latest", "event=" + String(repeating: "x", count: 65),
  ])
  func anInvalidPublicationIsRefused(_ query: String) async throws {
    try await RunningServer.with { server in
      let query = query.replacing("ä", with: "%C3%A4").replacing(" ", with: "%20")
      let answer = try await server.request(
        "POST", "/topics/news?\(query)", body: .bytes(ByteBuffer(string: "x")))
      #expect(answer.status == 400, "\(answer.body)")
      #expect(try await server.metric("published_total") == 0)
    }
  }

  @Test func aRefusalNamesTheOnlyParameterOfATopic() async throws {
    try await RunningServer.with { server in
      let answer = try await server.request("GET", "/topics/a?x=1")
      #expect(answer.status == 400)
      #expect(answer.body.contains("'access_token=…'"))
    }
  }
}
