#if NATS
  import NIOCore
  import Testing

  @testable import FanOutCore

  @Suite(.timeLimit(.minutes(5))) struct TopicsWaitTests {
    private let topics = Topics(
      historyEvents: 9, historyBytes: 9999, bufferLimit: 9, startingAfter: 0)

    @Test func aWaitEndsWithTheEvent() async throws {
      let topic = try Topic("news", limit: 9)
      let message = try #require(Message(ByteBuffer(string: "x")))
      async let isThere = topics.reach(2, within: .seconds(3600))
      while await topics.waiters.isEmpty { await Task.yield() }
      for id: EventID in 1...2 {
        await topics.deliver(Event(id: id, topic: topic, message: message))
      }
      #expect(await isThere)
    }

    @Test func aWaitEndsAtItsLimit() async {
      #expect(await !topics.reach(2, within: .milliseconds(1)))
    }
  }
#endif
