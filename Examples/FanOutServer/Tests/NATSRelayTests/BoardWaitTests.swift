#if NATS
  import NIOCore
  import Testing

  @testable import FanOutCore

  @Suite(.timeLimit(.minutes(5))) struct BoardWaitTests {
    private let board = Board(
      historyEvents: 9, historyBytes: 9999, bufferLimit: 9, startingAfter: 0)

    @Test func aWaitEndsWithTheEvent() async throws {
      let topic = try Topic("news", limit: 9)
      let message = try #require(Message(ByteBuffer(string: "x")))
      async let isThere = board.reach(2, within: .seconds(3600))
      while await board.waiters.isEmpty { await Task.yield() }
      for id: EventID in 1...2 {
        await board.deliver(Event(id: id, topic: topic, message: message))
      }
      #expect(await isThere)
    }

    @Test func aWaitEndsAtItsLimit() async {
      #expect(await !board.reach(2, within: .milliseconds(1)))
    }
  }
#endif
