import AsyncHTTPClient
import FanOutCore
import NIOCore
import Testing

@Suite(.timeLimit(.minutes(5))) struct PublishingTests {
  @Test func answersWithTheIDAndTheSubscribers() async throws {
    try await RunningServer.with { server in
      let first = try await server.publish("a")
      #expect(first.status == 200)
      #expect(first.body.hasSuffix(",\"subscribers\":0}\n"))
      var one = try await server.stream()
      var two = try await server.stream()
      let second = try await server.publish("b")
      #expect(second.body.hasSuffix(",\"subscribers\":2}\n"))
      #expect(try await one.data(1) == ["b"])
      #expect(try await two.data(1) == ["b"])
    }
  }

  @Test func idsIncreaseOverAllTopics() async throws {
    try await RunningServer.with { server in
      var last: UInt64 = 0
      for topic in ["a", "b", "a", "c"] {
        let id = try await server.published("x", to: topic)
        #expect(id > last)
        last = id
      }
    }
  }

  @Test(arguments: ["", "a", "a\nb", "a\r\nb\rc", "\n", "id: 5", "ä€𝄞", " leading", "data: x\n\n"])
  func dataArrivesAsItWas(_ data: String) async throws {
    try await RunningServer.with { server in
      var stream = try await server.stream()
      let id = try await server.published(data)
      let event = try await stream.next()
      #expect(event?.id == id)
      // The format does not distinguish line ends; the reader drops spaces after the colon.
      let expected = data.replacing("\r\n", with: "\n").replacing("\r", with: "\n")
      #expect(event?.data == String(expected.drop { $0 == " " }))
    }
  }

  @Test func anEventThatIsTooLongIsRefused() async throws {
    var settings = Settings()
    settings.maxEventBytes = 10
    try await RunningServer.with(settings) { server in
      #expect(try await server.publish("0123456789").status == 200)
      let refused = try await server.publish("0123456789x")
      #expect(refused.status == 413)
      #expect(refused.body == "{\"error\":\"an event has at most 10 bytes\"}\n")
      // Without Content-Length.
      let chunks = ["01234", "56789", "x"].map { ByteBuffer(string: $0) }
      let chunked = try await server.request(
        "POST", "/topics/news", body: .stream(chunks.async, length: .unknown))
      #expect(chunked.status == 413)
      #expect(try await server.metric("published_total") == 1)
    }
  }

  @Test func expectContinueIsAnswered() async throws {
    try await RunningServer.with { server in
      let head = "POST /topics/news HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
      let client = try await RawClient.connect(port: server.port)
      try await client.send(head + "Content-Length: 1\r\n\r\n")
      #expect(try await client.read(until: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
      try await client.send("x")
      #expect(try await client.read(until: "}\n").contains("HTTP/1.1 200 OK\r\n"))
      #expect(try await server.metric("published_total") == 1)
      await client.close()
      // Refused because of Content-Length.
      let other = try await RawClient.connect(port: server.port)
      try await other.send(head + "Content-Length: 99999999\r\n\r\n")
      #expect(try await other.read(until: "}\n").hasPrefix("HTTP/1.1 413 "))
      await other.close()
    }
  }

  @Test func dataThatIsNotTextIsRefused() async throws {
    try await RunningServer.with { server in
      let answer = try await server.request(
        "POST", "/topics/news", body: .bytes(ByteBuffer(bytes: [0x61, 0xff])))
      #expect(answer.status == 400)
      #expect(answer.body == "{\"error\":\"the body is not UTF-8: events are text\"}\n")
    }
  }

  @Test func anInvalidTopicIsRefused() async throws {
    var settings = Settings()
    settings.maxTopicLength = 5
    try await RunningServer.with(settings) { server in
      for (name, reason) in [
        ("abcdef", "a topic has at most 5 characters"), ("", "a topic needs a name"),
        ("a%20b", "a topic has only letters, digits, '-', '_', '~' and '.'"),
      ] {
        let answer = try await server.publish("x", to: name)
        #expect(answer.status == 400)
        #expect(answer.body == "{\"error\":\"\(reason)\"}\n")
        #expect(try await server.request("GET", "/topics/\(name)/events").status == 400)
      }
    }
  }
}
