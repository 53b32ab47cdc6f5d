import AsyncHTTPClient
import FanOut
import Foundation
import HTTPTypes
import Hummingbird
import InMemoryTracing
import Logging
import NIOCore
import NIOHTTP1
import ServiceLifecycle
import Testing
import Tracing

/// Streams of an application that uses the library.
@Suite(.timeLimit(.minutes(5))) struct KitTests {
  private static let package = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  // MARK: - The example

  @Test func theProgramOfTheReadmeIsTheExample() throws {
    let source = try String(
      contentsOf: Self.package.appending(path: "Sources/KitExample/KitExample.swift"),
      encoding: .utf8)
    let readme = try String(
      contentsOf: Self.package.appending(path: "README.md"), encoding: .utf8)
    #expect(readme.contains("```swift\n\(source)```\n"))
  }

  /// As the README says: publish, listen, continue, and shut down.
  @Test func theExampleStreamsAndResumes() async throws {
    let program = try ServerProcess(["0"], program: "KitExample")
    try program.waitForErrors(containing: "listening on 127.0.0.1:")
    let errors = try program.errorsSoFar()
    let digits = errors.components(separatedBy: "listening on 127.0.0.1:").last?
      .prefix { $0.isNumber }
    let port: Int = try #require(digits.flatMap { Int($0) }, "\(errors)")
    try await ProcessClient.with { http in
      let client = ProcessClient(port: port, client: http, isKit: true)
      let first = try #require(try await client.publish("1"))
      var live = try await client.stream()
      #expect(try await live.nextBlock() == EventReader.Block(id: first, retry: 2000))
      #expect(try await client.publish("2") == first + 1)
      #expect(try await client.publish("other", to: "other") == first + 2)
      #expect(try await live.next() == EventReader.Block(id: first + 1, data: "2"))
      var resumed = try await client.stream(after: first)
      #expect(try await resumed.data(1) == ["2"])
      #expect(try await client.publish("3") == first + 3)
      for var stream in [live, resumed] {
        #expect(try await stream.next() == EventReader.Block(id: first + 3, data: "3"))
      }
      #expect(try await client.request("/events/a..b").0 == 400)
      #expect(try await client.request("/events/a..b").1.contains("a topic neither begins"))
      #expect(try await client.request("/events/a?policy=x").0 == 400)
      // A shutdown ends the streams, and the program.
      var last = try await client.stream(after: first + 3)
      _ = try await last.nextBlock()
      program.terminate()
      #expect(try await last.nextBlock() == EventReader.Block(retry: 2000))
      #expect(try await last.nextBlock() == nil)
    }
    _ = try program.wait()
    #expect(program.exitStatus == 0)
  }

  // MARK: - An application in this process

  /// Runs an application with a stream for each topic.
  private func withApplication(
    _ limits: FanOutHub.Limits = FanOutHub.Limits(),
    _ body: @escaping @Sendable (FanOutHub, ProcessClient) async throws -> Void
  ) async throws {
    let hub = FanOutHub(limits)
    let router = Router()
    router.get("/events/:topic") { request, context in
      // Several topics are separated by commas.
      let topics = try context.parameters.require("topic").split(separator: ",").map(String.init)
      return topics.count == 1
        ? try hub.sse(request, topic: topics[0]) : try hub.sse(request, topics: topics)
    }
    let (ports, continuation) = AsyncStream<Int>.makeStream()
    var logger = Logger(label: "kit")
    logger.logLevel = .critical
    let application = Application(
      router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
      services: [hub],
      onServerRunning: { continuation.yield($0.localAddress?.port ?? 0) }, logger: logger)
    let group = ServiceGroup(services: [application], logger: logger)
    let run = Task { try await group.run() }
    var iterator = ports.makeAsyncIterator()
    let port: Int = try #require(await iterator.next())
    try await ProcessClient.with { http in
      try await body(hub, ProcessClient(port: port, client: http, isKit: true))
      await group.triggerGracefulShutdown()
      try await run.value
    }
  }

  @Test func theApplicationPublishesToo() async throws {
    try await withApplication { hub, client in
      let first = try await hub.publish("1", to: "news")
      #expect(first.subscribers == 0)
      var stream = try await client.stream(after: first.id)
      let second = try await hub.publish("2\n3", to: "news", type: "price")
      #expect(second.id == first.id + 1)
      #expect(second.subscribers == 1)
      _ = try await stream.nextBlock()
      #expect(
        try await stream.nextBlock()
          == EventReader.Block(id: second.id, event: "price", data: "2\n3"))
    }
  }

  /// As a publisher does that does not know whether it has published.
  @Test func aRepeatedIdPublishesOnce() async throws {
    try await withApplication { hub, client in
      var stream = try await client.stream()
      _ = try await stream.nextBlock()
      // Some at the same time, and one with other data.
      let published = try await withThrowingTaskGroup { group in
        for _ in 0..<10 {
          group.addTask { try await hub.publish("1", to: "news", id: "order-17") }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      let first: FanOutHub.Published = try #require(published.first { !$0.isRepeated })
      #expect(first.subscribers == 1)
      var expected = first
      expected.isRepeated = true
      #expect(published.count { $0 == expected } == 9)
      #expect(try await hub.publish("other", to: "news", id: "order-17") == expected)
      // An id belongs to its topic.
      #expect(try await hub.publish("1", to: "other", id: "order-17").id == first.id + 1)
      try await hub.publish("2", to: "news", id: "order-18")
      #expect(try await stream.data(2) == ["1", "2"])
    }
  }

  @Test func aHubForgetsIds() async throws {
    var limits = FanOutHub.Limits()
    limits.rememberedIDs = 1
    let hub = FanOutHub(limits)
    try await hub.publish("1", to: "news", id: "a")
    #expect(try await hub.publish("1", to: "news", id: "a").isRepeated)
    try await hub.publish("2", to: "news", id: "b")
    #expect(try await !hub.publish("1", to: "news", id: "a").isRepeated)
  }

  @Test func anEventMaySetTheWaitOfItsClients() async throws {
    try await withApplication { hub, client in
      var stream = try await client.stream()
      _ = try await stream.nextBlock()
      let waits: [Duration] = [.zero, .microseconds(1500), .seconds(3600)]
      for wait in waits { try await hub.publish("x", to: "news", retry: wait) }
      for milliseconds in [0, 1, 3_600_000] {
        #expect(try await stream.nextBlock()?.retry == milliseconds)
      }
    }
  }

  @Test(
    arguments: [
      (.nanoseconds(-1), nil), (.seconds(3600) + .nanoseconds(1), nil), (.seconds(Int64.max), nil),
      (nil, ""), (nil, "a b"), (nil, String(repeating: "a", count: 129)),
    ] as [(Duration?, String?)])
  func aWrongWaitOrIdIsRefused(_ retry: Duration?, _ id: String?) async throws {
    let hub = FanOutHub()
    await #expect { try await hub.publish("x", to: "a", retry: retry, id: id) } throws: { error in
      (error as? any HTTPResponseError)?.status == .badRequest
    }
  }

  @Test func aPublicationIsASpan() async throws {
    let tracer = InMemoryTracer()
    let hub = FanOutHub(tracer: tracer)
    try await hub.publish("x", to: "news")
    await #expect(throws: (any Error).self) { try await hub.publish("x", to: "a..b") }
    let spans = tracer.finishedSpans
    #expect(spans.map(\.operationName) == ["publish", "publish"])
    #expect(spans.map(\.kind) == [.producer, .producer])
    #expect(spans.map(\.errors.count) == [0, 1])
    let attributes = try #require(spans.first).attributes
    #expect(attributes.get("multicast.hub") == .string("fan-out"))
    #expect(attributes.get("multicast.topic") == .string("news"))
    #expect(attributes.get("multicast.receivers") == .int64(0))
  }

  @Test(
    arguments: [("a..b", nil, 400), ("a", "missed", 400), ("a", "begin", 400), ("a", "x y", 400)]
      as [(String, String?, UInt)])
  func aWrongEventIsRefused(_ topic: String, _ type: String?, _ status: UInt) async throws {
    let hub = FanOutHub()
    await #expect { try await hub.publish("x", to: topic, type: type) } throws: { error in
      (error as? any HTTPResponseError)?.status.code == Int(status)
    }
  }

  @Test func aLongEventIsRefused() async throws {
    var limits = FanOutHub.Limits()
    limits.maxEventBytes = 3
    let hub = FanOutHub(limits)
    try await hub.publish("abc", to: "a")
    await #expect { try await hub.publish("abcd", to: "a") } throws: { error in
      (error as? any HTTPResponseError)?.status == .contentTooLarge
    }
    hub.close()
    await #expect { try await hub.publish("abc", to: "a") } throws: { error in
      (error as? any HTTPResponseError)?.status == .serviceUnavailable
    }
  }

  /// As an application that wants no limit sets them.
  @Test func reflectionReadsNoPartsOfAHub() {
    #expect(Mirror(reflecting: FanOutHub()).children.isEmpty)
  }

  @Test func theLargestLimitsAreLimits() async throws {
    var limits = FanOutHub.Limits()
    limits.history = .max
    limits.historyBytes = .max
    limits.buffer = .max
    limits.maxEventBytes = .max
    limits.maxTopicLength = .max
    limits.heartbeat = .seconds(Int64.max)
    limits.retry = .seconds(Int64.max)
    try await withApplication(limits) { hub, client in
      let first = try await hub.publish("1", to: "news").id
      try await hub.publish("2", to: "news")
      var stream = try await client.stream(after: first)
      #expect(try await stream.data(1) == ["2"])
      try await hub.publish("3", to: "news")
      #expect(try await stream.data(1) == ["3"])
    }
  }

  @Test func missedEventsAreReported() async throws {
    var limits = FanOutHub.Limits()
    limits.history = 2
    limits.buffer = 2
    try await withApplication(limits) { hub, client in
      var ids: [UInt64] = []
      for number in 0..<5 { ids.append(try await hub.publish("\(number)", to: "news").id) }
      var stream = try await client.stream(after: ids[0])
      #expect(
        try await stream.next()?.data
          == #"{"reason":"history","after":\#(ids[0]),"through":\#(ids[2])}"#)
      #expect(try await stream.data(2) == ["3", "4"])
    }
  }

  @Test func aStreamMayHaveSeveralTopics() async throws {
    try await withApplication { hub, client in
      let first = try await hub.publish("0", to: "a")
      for (number, topic) in ["a", "b.x", "c", "b.y"].enumerated() {
        try await hub.publish("\(number)", to: topic)
      }
      var stream = try await client.stream("a,b.*", after: first.id)
      let expected = [("a", 0), ("b.x", 1), ("b.y", 3)].map {
        #"{"topic":"\#($0.0)","data":"\#($0.1)"}"#
      }
      #expect(try await stream.data(3) == expected)
      #expect(throws: (any Error).self) {
        let head = HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/")
        return try hub.sse(Request(head: head, body: RequestBody(buffer: ByteBuffer())), topics: [])
      }
    }
  }

  /// The parameters of the application are its own.
  @Test func otherParametersAreIgnored() async throws {
    try await withApplication { hub, client in
      let first = try await hub.publish("1", to: "news")
      try await hub.publish("2", to: "news")
      var stream = try await client.stream(query: "?user=7&lastEventId=\(first.id)&policy=latest")
      #expect(try await stream.data(1) == ["2"])
    }
  }

  @Test func anIdleStreamGetsHeartbeatsAndThenItsEvents() async throws {
    var limits = FanOutHub.Limits()
    limits.heartbeat = .milliseconds(10)
    try await withApplication(limits) { hub, client in
      var stream = try await client.stream()
      _ = try await stream.nextBlock()
      for _ in 0..<3 { #expect(try await stream.nextBlock()?.isComment == true) }
      try await hub.publish("1", to: "news")
      #expect(try await stream.data(1) == ["1"])
    }
  }

  /// A heartbeat notices that the client has closed.
  @Test func aClientThatClosesIsForgotten() async throws {
    var limits = FanOutHub.Limits()
    limits.heartbeat = .milliseconds(10)
    try await withApplication(limits) { hub, client in
      let raw = try await RawClient.connect(port: client.port)
      try await raw.send("GET /events/news HTTP/1.1\r\nHost: a\r\n\r\n")
      _ = try await raw.read(until: "retry:")
      #expect(try await hub.publish("1", to: "news").subscribers == 1)
      await raw.close()
      while try await hub.publish("2", to: "news").subscribers > 0 { try Task.checkCancellation() }
    }
  }

  @Test func eventsArriveInOrderForManyClients() async throws {
    let (clients, count) = (30, 200)
    var limits = FanOutHub.Limits()
    limits.history = count
    limits.buffer = count
    try await withApplication(limits) { hub, client in
      let first = try await hub.publish("first", to: "news").id
      try await withThrowingTaskGroup(of: [String].self) { group in
        for _ in 0..<clients {
          group.addTask {
            var stream = try await client.stream(after: first)
            return try await stream.data(count)
          }
        }
        for number in 0..<count { try await hub.publish("\(number)", to: "news") }
        for try await texts in group { #expect(texts == (0..<count).map(String.init)) }
      }
    }
  }

  /// It would keep the application running.
  @Test func aShutdownDoesNotWaitForAClientThatDoesNotRead() async throws {
    var limits = FanOutHub.Limits()
    limits.drain = .milliseconds(10)
    let stalled = Box<RawClient?>(nil)
    try await withApplication(limits) { hub, client in
      let raw = try await RawClient.connect(port: client.port, receiveBuffer: 4096)
      stalled.value = raw
      try await raw.send("GET /events/news HTTP/1.1\r\nHost: a\r\n\r\n")
      while try await hub.publish("1", to: "news").subscribers == 0 { try Task.checkCancellation() }
      // More than the kernel's buffers hold.
      let text = String(repeating: "x", count: 60_000)
      for _ in 0..<200 { try await hub.publish(text, to: "news") }
    }
    await stalled.value?.close()
  }

  @Test func afterAShutdownThereAreNoEvents() async throws {
    let stopped = Box<FanOutHub?>(nil)
    try await withApplication { hub, _ in
      stopped.value = hub
      try await hub.publish("1", to: "news")
    }
    let hub = try #require(stopped.value)
    await #expect {
      try await hub.publish("2", to: "news")
    } throws: { error in
      (error as? any HTTPResponseError)?.status == .serviceUnavailable
    }
  }

  @Test func closingEndsTheStreams() async throws {
    try await withApplication { hub, client in
      var stream = try await client.stream()
      _ = try await stream.nextBlock()
      try await hub.publish("1", to: "news")
      hub.close()
      #expect(try await stream.next()?.data == "1")
      #expect(try await stream.nextBlock()?.retry == 2000)
      #expect(try await stream.nextBlock() == nil)
      #expect(try await client.request("/events/news").0 == 503)
    }
  }
}
