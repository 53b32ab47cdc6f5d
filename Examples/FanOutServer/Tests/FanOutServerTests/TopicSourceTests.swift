import NIOCore
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
}
