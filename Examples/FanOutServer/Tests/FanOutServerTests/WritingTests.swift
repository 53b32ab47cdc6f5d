import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import NIOPosix
import Testing

@testable import FanOutCore

@Suite(.timeLimit(.minutes(5))) struct WritingTests {
  /// A member whose first write takes all that a turn writes at once.
  private final class LargeMember: TurnMember {
    private let loop: ConnectionLoop
    private let whileWriting: () -> Void
    private(set) var writes = 0
    private(set) var lastTurn = 0

    init(_ loop: ConnectionLoop, whileWriting: @escaping () -> Void = {}) {
      self.loop = loop
      self.whileWriting = whileWriting
    }

    func writePending(_ budget: inout TurnBudget) -> Bool {
      writes += 1
      lastTurn = loop.turnNumber
      if writes == 1 { budget.streams = 0 }
      whileWriting()
      return writes > 1
    }
  }

  @Test func aLoopWritesWhatItDeliversAtOnce() async throws {
    let eventLoop = NIOSingletons.posixEventLoopGroup.next()
    let loops = try await ConnectionLoops(eventLoop, heartbeat: .hours(1), idle: .hours(1))
    let (before, after) = try await eventLoop.submit {
      let loop = loops[eventLoop].value
      let member = LargeMember(loop)
      let signal = TurnSignal(member, loop.ready)
      let end = loops.deliver { signal.send() }
      let before = member.writes
      end()
      return (before, member.writes)
    }.get()
    #expect(before == 0 && after == 1)
    loops.stop()
  }

  @Test func aDeliveryInsideATurnBeginsNoOther() {
    let eventLoop = EmbeddedEventLoop()
    let loop = ConnectionLoop(eventLoop, ConnectionLoop.Counts())
    let other = LargeMember(loop)
    let otherSignal = TurnSignal(other, loop.ready)
    var writesInside: [Int] = []
    let member = LargeMember(loop) {
      loop.ready.beginDelivery()
      otherSignal.send()
      if loop.ready.endDelivery() { loop.beginTurnAtOnce() }
      writesInside.append(other.writes)
    }
    let signal = TurnSignal(member, loop.ready)
    signal.send()
    eventLoop.run()
    #expect(writesInside == [0])
    // It is scheduled instead.
    while other.writes == 0 { eventLoop.advanceTime(by: .milliseconds(1)) }
    loop.stop()
  }

  @Test func whatComesDuringATurnWaitsForTheNextOne() {
    let eventLoop = EmbeddedEventLoop()
    let loop = ConnectionLoop(eventLoop, ConnectionLoop.Counts())
    let member = LargeMember(loop)
    let signal = TurnSignal(member, loop.ready)
    signal.send()
    eventLoop.run()
    #expect(member.writes == 1)
    // There is more for the member, while the rest of the turn waits until the loop has served its
    // sockets.
    signal.send()
    eventLoop.run()
    eventLoop.advanceTime(by: .milliseconds(1))
    #expect(member.writes == 2)
    // The pause is measured with the clock of the machine.
    while member.writes == 2 { eventLoop.advanceTime(by: .milliseconds(1)) }
    #expect(member.writes == 3 && loop.turnNumber == 2)
    loop.stop()
  }

  @Test func eachEventIsWrittenWithoutAnotherOne() async throws {
    var settings = Settings()
    settings.bufferLimit = 64
    try await RunningServer.with(settings) { server in
      var stream = try await server.stream()
      for round in 0..<20 {
        // As many as may wait. If a wake-up were lost, the last ones would not come.
        try await withThrowingTaskGroup(of: Void.self) { group in
          for publisher in 0..<8 {
            group.addTask {
              for number in 0..<8 { try await server.published("\(round) \(publisher) \(number)") }
            }
          }
          try await group.waitForAll()
        }
        var received: Set<String> = []
        for text in try await stream.data(64) { received.insert(text) }
        #expect(received.count == 64 && received.allSatisfy { $0.hasPrefix("\(round) ") })
      }
      #expect(try await server.metric("dropped_total") == 0)
    }
  }

  /// Counts the wake-ups of a loop that has `count` streams.
  private func withStreams(
    _ count: Int, _ body: (ReadyStreams, [TurnSignal], () -> Int) throws -> Void
  ) async throws {
    let loops = try await ConnectionLoops(
      NIOSingletons.posixEventLoopGroup, heartbeat: .hours(1), idle: .hours(1))
    defer { loops.stop() }
    let eventLoop = NIOSingletons.posixEventLoopGroup.next()
    let wakes = NIOLockedValueBox(0)
    let ready = ReadyStreams { wakes.withLockedValue { $0 += 1 } }
    let signals = try await eventLoop.submit {
      (0..<count).map { _ in
        let stream = EventStream(
          loops[eventLoop].value, isEncrypted: false, retryMilliseconds: 0, closesWhenStalled: false
        )
        return TurnSignal(stream, ready)
      }
    }.get()
    try body(ready, signals) { wakes.withLockedValue { $0 } }
  }

  @Test func aQuietStreamWakesItsLoopAtOnce() async throws {
    try await withStreams(3) { ready, signals, wakes in
      signals[0].send()
      #expect(wakes() == 1)
      // They are in the turn that is due.
      signals[1].send()
      #expect(wakes() == 1)
      var turn: [TurnSignal] = []
      ready.take(into: &turn)
      #expect(turn.map { ObjectIdentifier($0) } == signals[..<2].map { ObjectIdentifier($0) })
      signals[2].send()
      #expect(wakes() == 2)
    }
  }

  @Test func theStreamsOfAnEventAreWrittenInOneTurn() async throws {
    try await withStreams(100) { ready, signals, wakes in
      ready.beginDelivery()
      for signal in signals { signal.send() }
      // The caller begins the turn.
      #expect(ready.endDelivery())
      var turn: [TurnSignal] = []
      ready.take(into: &turn)
      #expect(turn.count == 100)
      ready.beginDelivery()
      #expect(!ready.endDelivery())
      #expect(wakes() == 0)
    }
  }

  @Test func theLastOfConcurrentDeliveriesBeginsTheTurn() async throws {
    try await withStreams(2) { ready, signals, wakes in
      ready.beginDelivery()
      ready.beginDelivery()
      signals[0].send()
      #expect(!ready.endDelivery())
      signals[1].send()
      #expect(ready.endDelivery())
      #expect(wakes() == 0)
    }
  }

  @Test func concurrentPublishersDoNotKeepALoopFromItsTurn() async throws {
    let (overlaps, deliveries) = (NIOLockedValueBox(0), NIOLockedValueBox(0))
    let source = TopicSource(Settings(), makeLog: nil) { deliver in
      let count = deliveries.withLockedValue { count in
        count += 1
        return count
      }
      if count > 1 { overlaps.withLockedValue { $0 += 1 } }
      deliver()
      deliveries.withLockedValue { $0 -= 1 }
      return {}
    }
    let message = try #require(Message(ByteBuffer(string: "x")))
    let topic = try Topic("news", limit: 9)
    try await withThrowingTaskGroup { group in
      for _ in 0..<4 {
        group.addTask {
          for _ in 0..<2000 { _ = try await source.log.publish(message, to: topic) }
        }
      }
      try await group.waitForAll()
    }
    // While one overlaps the next, no turn begins.
    #expect(overlaps.withLockedValue { $0 } == 0)
    #expect(source.topics.counts.totals.published == 8000)
  }

  @Test func aWriteOfSeveralEventsCountsOnce() async throws {
    var settings = Settings()
    settings.pause = .milliseconds(500)
    try await RunningServer.with(settings) { server in
      var streams: [EventReader] = []
      for _ in 0..<3 { streams.append(try await server.stream()) }
      try await server.published("first")
      try await server.wait(until: "sent_total", is: 3)
      #expect(try await server.metric("writes_total") == 3)
      // In one request: on a busy machine, several take longer than a pause.
      let batch = (0..<8).map { #"{"topic":"news","data":"\#($0)"}"# }.joined(separator: "\n")
      #expect(try await server.publish(batch: batch).status == 200)
      try await server.wait(until: "sent_total", is: 3 + 3 * 8)
      let writes = try await server.metric("writes_total")
      #expect(writes < 3 + 3 * 8, "events of one pause are in one write")
      var replay = try await server.stream(headers: [("Last-Event-ID", "0")])
      #expect(try await replay.data(9).count == 9)
      try await server.wait(until: "sent_total", is: 3 + 3 * 8 + 9)
      #expect(try await server.metric("writes_total") == writes + 1)
    }
  }

  @Test func aBusyStreamWaitsForThePause() async throws {
    var settings = Settings()
    settings.pause = .milliseconds(300)
    try await RunningServer.with(settings) { server in
      var stream = try await server.stream()
      let start = ContinuousClock.now
      for round in 0..<3 {
        for number in 0..<4 { try await server.published("\(round) \(number)") }
        #expect(try await stream.data(4) == (0..<4).map { "\(round) \($0)" })
      }
      // Each round needs a turn of its own.
      #expect(ContinuousClock.now - start >= .milliseconds(2 * 300))
    }
  }

  @Test func anEventThatNeedsSeveralTurnsReachesAllStreams() async throws {
    let count = 40
    let length = 4 * TurnBudget().bytes / count
    var settings = Settings()
    settings.maxEventBytes = length
    try await RunningServer.with(settings) { server in
      var streams: [EventReader] = []
      for _ in 0..<count { streams.append(try await server.stream()) }
      let text = String(repeating: "x", count: length)
      try await server.published(text)
      for index in streams.indices { #expect(try await streams[index].data(1) == [text]) }
    }
  }
}
