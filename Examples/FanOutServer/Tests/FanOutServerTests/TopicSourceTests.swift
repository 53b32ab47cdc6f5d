import HTTPTypes
import NIOCore
import Synchronization
import Testing

@testable import FanOutCore

/// The topics of a hub of the kit.
@Suite(.timeLimit(.minutes(5))) struct TopicSourceTests {
  @Test func nothingKeepsTheTopicsOfAHubThatIsGone() async throws {
    weak var topics: Topics?
    do {
      let source = TopicSource(Settings())
      topics = source.topics
      #expect(try await source.publish(ByteBuffer(string: "x"), to: "a", type: nil).id > 0)
    }
    while topics != nil { await Task.yield() }
  }

  /// A client that does not read keeps in memory what was read for it.
  @Test func aReadEndsWithALargeEvent() async throws {
    let source = TopicSource(Settings())
    let start = try await source.publish(ByteBuffer(string: "0"), to: "a", type: nil).id
    let text = String(repeating: "x", count: 40_000)
    for _ in 0..<4 {
      _ = try await source.publish(ByteBuffer(string: text), to: "a", type: nil)
    }
    let frames = try source.subscribe(
      toAll: ["a"], [.lastEventID: "\(start)"], query: nil, whenReadable: {})
    // The first frame has the reconnection time.
    #expect(frames.read().map(\.readableBytes).filter { $0 > text.utf8.count }.count == 2)
    #expect(frames.read().count == 2)
    #expect(frames.read().isEmpty)
  }

  @Test func noEventIsAcknowledgedThatComesAfterTheEnd() async throws {
    let topics = Mutex(Optional<Topics>.none)
    let source = TopicSource(Settings(), makeLog: nil) { deliver in
      let closing = topics.withLock { $0 }
      closing?.close()
      deliver()
      return {}
    }
    topics.withLock { $0 = source.topics }
    let error = await #expect(throws: RequestError.self) {
      try await source.publish(ByteBuffer(string: "x"), to: "a", type: nil)
    }
    #expect(error.map { "\($0)" }?.contains("the server is shutting down") == true)
  }
}
