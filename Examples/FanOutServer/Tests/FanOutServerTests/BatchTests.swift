import AsyncHTTPClient
import FanOutCore
import NIOCore
import ServiceLifecycle
import Testing

/// Events as JSON: `POST /events`.
@Suite(.timeLimit(.minutes(5))) struct BatchTests {
  @Test func aBatchIsPublishedInItsOrder() async throws {
    try await RunningServer.with { server in
      let first = try await server.published("0", to: "a")
      var a = try await server.stream("a")
      var b = try await server.stream("b")
      let batch = """
        {"topic":"a","data":"1\\n2","event":"price","retry":5}

        {"data":{"x": [1, 2.50, null]}, "topic":"b"}\r
        {"topic":"a","data":12}
        """
      let answer = try await server.publish(batch: batch)
      #expect(answer.status == 200, "\(answer.body)")
      #expect(
        answer.body == """
          {"events":[{"id":\(first + 1),"subscribers":1},{"id":\(first + 2),"subscribers":1},\
          {"id":\(first + 3),"subscribers":1}]}

          """)
      let price = EventReader.Block(id: first + 1, event: "price", data: "1\n2", retry: 5)
      #expect(try await a.next() == price)
      #expect(try await a.data(1) == ["12"])
      // The text of other values than strings stays as it is.
      #expect(try await b.data(1) == [#"{"x": [1, 2.50, null]}"#])
    }
  }

  @Test func oneEventMayBeAnObject() async throws {
    try await RunningServer.with { server in
      let first = try await server.published("0")
      let event = "{\n  \"topic\": \"news\",\n  \"data\": \"x\"\n}\n"
      let answer = try await server.publish(batch: event, "application/json; charset=utf-8")
      #expect(answer.status == 200)
      #expect(answer.body == "{\"id\":\(first + 1),\"subscribers\":0}\n")
    }
  }

  @Test(arguments: [
    (#"{"topic":"a","data":"x"}"# + "\n{\n", "line 2: it is not JSON from byte 1 on"),
    ("\n\n[]", "line 3: it is not a JSON object"), ("", "there is no event"),
    (" \n\r\n", "there is no event"), (#"{"topic":"a"}"#, "line 1: there is no 'data'"),
    (#"{"data":"x"}"#, "line 1: there is no 'topic'"),
    (#"{"topic":"a b","data":"x"}"#, "line 1: a topic has only"),
    (#"{"topic":"a.*","data":"x"}"#, "line 1: a topic has only"),
    (#"{"topic":1,"data":"x"}"#, "line 1: 'topic' is not a string"),
    (#"{"topic":"a","data":"x","event":"missed"}"#, "line 1: 'event' has"),
    (#"{"topic":"a","data":"x","event":"begin"}"#, "line 1: 'event' has"),
    (#"{"topic":"a","data":"x","event":null}"#, "line 1: 'event' is not a string"),
    (#"{"topic":"a","data":"x","retry":-1}"#, "line 1: 'retry' is not a number"),
    (#"{"topic":"a","data":"x","retry":"1"}"#, "line 1: 'retry' is not a number"),
    (#"{"topic":"a","data":"x","retry":1.5}"#, "line 1: 'retry' is not a number"),
    (#"{"topic":"a","data":"x","id":""}"#, "line 1: the 'id' of a publisher"),
    (#"{"topic":"a","data":"x","id":7}"#, "line 1: 'id' is not a string"),
    (#"{"topic":"a","data":"x","type":"y"}"#, "line 1: the members of an event"),
    (#"{"topic":"a","data":"x","data":"y"}"#, "line 1: a member of the object is there twice"),
    (#"{"topic":"a","data":"x"} {}"#, "line 1: it is not JSON from byte 25 on"),
    (
      #"{"topic":"a","data":"x","id":"1"}"# + "\n" + #"{"topic":"a","data":"y","id":"1"}"#,
      "line 2: line 1 has the same 'topic' and 'id'"
    ),
  ])
  func aBatchWithAFaultIsRefusedAsAWhole(_ batch: String, _ reason: String) async throws {
    try await RunningServer.with { server in
      let good = #"{"topic":"a","data":"x"}"#
      for text in [batch, batch + "\n" + good] {
        let answer = try await server.publish(batch: text)
        guard !reason.hasPrefix("there is no event") || text == batch else { continue }
        #expect(answer.status == 400)
        #expect(answer.body.contains(reason), "\(answer.body)")
      }
      let expected = reason.hasPrefix("there is no event") ? 1 : 0
      #expect(try await server.metric("published_total") == expected)
    }
  }

  @Test func batchesAreLimited() async throws {
    var settings = Settings()
    settings.maxBatchEvents = 3
    settings.maxEventBytes = 100
    settings.maxBatchBytes = 400
    try await RunningServer.with(settings) { server in
      func batch(_ count: Int, _ text: String = "x") -> String {
        String(repeating: #"{"topic":"a","data":"\#(text)"}"# + "\n", count: count)
      }
      #expect(try await server.publish(batch: batch(3)).status == 200)
      let many = try await server.publish(batch: batch(4))
      #expect(many.status == 413 && many.body.contains("line 4: a batch has at most 3 events"))
      let long = String(repeating: "x", count: 101)
      let tooLong = try await server.publish(batch: batch(1) + batch(1, long))
      #expect(tooLong.status == 413)
      #expect(tooLong.body.contains("line 2: an event has at most 100 bytes"))
      let all = try await server.publish(batch: batch(4, long))
      #expect(all.status == 413 && all.body.contains("at most 400 bytes"))
      #expect(try await server.metric("published_total") == 3)
    }
  }

  @Test(arguments: [
    "", "text/plain", "application/x-www-form-urlencoded", "application/jsonx", "json",
    "application/x- ndjson",
  ])
  func anotherContentTypeIsRefused(_ type: String) async throws {
    try await RunningServer.with { server in
      let answer = try await server.publish(batch: #"{"topic":"a","data":"x"}"#, type)
      #expect(answer.status == 415)
      #expect(answer.body.contains("application/x-ndjson"))
    }
  }

  @Test(arguments: [
    "application/json; charset=utf-8", "Application/JSON ;a=b", "application/json\t; a=\"b;c\"",
  ])
  func aContentTypeMayHaveParameters(_ type: String) async throws {
    try await RunningServer.with { (server) async throws -> Void in
      let answer = try await server.publish(batch: #"{"topic":"a","data":"x"}"#, type)
      #expect(answer.status == 200, "\(answer.body)")
      let wrong = try await server.request(
        "POST", "/topics/a", [("Content-Type", type)], body: .bytes(ByteBuffer(string: "{a:1}")))
      #expect(wrong.status == 400, "\(wrong.body)")
    }
  }

  /// It would be published as it is, if its bytes happened to be text.
  @Test(arguments: [("POST", "/topics/a"), ("POST", "/events")])
  func aCodedBodyIsRefused(_ method: String, _ path: String) async throws {
    try await RunningServer.with { (server) async throws -> Void in
      let body = #"{"topic":"a","data":"x"}"#
      func publish(_ coding: String) async throws -> (status: UInt, body: String) {
        let fields = [("Content-Type", "application/json"), ("Content-Encoding", coding)]
        let answer = try await server.request(
          method, path, fields, body: .bytes(ByteBuffer(string: body)))
        return (UInt(answer.status), answer.body)
      }
      let refused = try await publish("gzip")
      #expect(refused.status == 415 && refused.body.contains("Content-Encoding"))
      #expect(try await publish("Identity").status == 200)
      #expect(try await server.metric("published_total") == 1)
    }
  }

  @Test func theBodyOfATopicMustBeTheJSONThatItClaimsToBe() async throws {
    try await RunningServer.with { server in
      let type = [("Content-Type", "application/json")]
      for (body, status) in [("{\"a\":\n[1]}", 200), (" 12 ", 200), ("{a:1}", 400), ("", 400)] {
        let answer = try await server.request(
          "POST", "/topics/a", type, body: .bytes(ByteBuffer(string: body)))
        #expect(answer.status == status, "\(body)")
      }
      var stream = try await server.stream("a", headers: [("Last-Event-ID", "1")])
      #expect(try await stream.next()?.event == "missed")
      #expect(try await stream.data(2) == ["{\"a\":\n[1]}", "12 "])
    }
  }

  /// A log that stores only so many events.
  private actor Limited: EventLog {
    private let topics: Topics
    private var rest: Int
    private var last: EventID = 0

    init(_ topics: Topics, _ rest: Int) {
      self.topics = topics
      self.rest = rest
      topics.begin(after: 0)
    }

    func publish(_ message: Message, to topic: Topic) throws(Unavailable) -> Receipt {
      guard rest > 0 else { throw Unavailable("there is no space") }
      rest -= 1
      last += 1
      let event = Event(id: last, topic: topic, message: message)
      return Receipt(id: last, subscribers: topics.deliver(event) ?? 0)
    }

    nonisolated func run() async throws { try? await gracefulShutdown() }

    nonisolated var status: LogStatus { LogStatus(kind: "limited", isConnected: true) }
  }

  @Test func theResponseSaysWhatWasPublishedBeforeAnError() async throws {
    try await RunningServer.with(makeLog: { Limited($0, 2) }) { server in
      let batch = (1...4).map { #"{"topic":"a","data":"\#($0)","id":"\#($0)"}"# }
        .joined(separator: "\n")
      let answer = try await server.publish(batch: batch)
      #expect(answer.status == 503)
      #expect(
        answer.body == """
          {"error":"there is no space","events":[{"id":1,"subscribers":0},\
          {"id":2,"subscribers":0}]}

          """)
      // What was published is known when the publisher repeats the batch.
      let again = try await server.publish(batch: batch)
      #expect(again.body.contains(#"[{"id":1,"subscribers":0,"repeated":true},{"id":2,"#))
      #expect(try await server.metric("published_total") == 2)
    }
  }
}
