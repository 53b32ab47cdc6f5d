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
