import NIOCore
import Testing

@testable import FanOutCore

@Suite(.timeLimit(.minutes(5))) struct ReplayTests {
  private func after(_ id: UInt64) -> [(String, String)] { [("Last-Event-ID", "\(id)")] }

  @Test func aClientThatReconnectsGetsTheEventsItMissed() async throws {
    try await RunningServer.with { server in
      let first = try await server.published("1")
      try await server.published("other", to: "other")
      try await server.published("2")
      try await server.published("3")
      var stream = try await server.stream("news", headers: after(first))
      try await server.published("4")
      #expect(try await stream.data(3) == ["2", "3", "4"])
    }
  }

  @Test func aClientWithoutAnIDGetsLiveEvents() async throws {
    try await RunningServer.with { server in
      try await server.published("1")
      var stream = try await server.stream()
      try await server.published("2")
      #expect(try await stream.data(1) == ["2"])
    }
  }

  @Test func aClientThatIsCutOffBeforeItsFirstEventMissesNothing() async throws {
    try await RunningServer.with { server in
      let newest = try await server.published("1", to: "other")
      var cutOff = try await server.stream()
      let id = try #require(try await cutOff.nextBlock()?.id)
      #expect(id == newest)
      try await server.published("2")
      // The first stream did not read event 2.
      var stream = try await server.stream("news", headers: after(id))
      #expect(try await stream.nextBlock()?.id == nil)
      #expect(try await stream.next()?.data == "2")
    }
  }

  @Test func removedEventsAreReported() async throws {
    var settings = Settings()
    settings.historyEvents = 2
    try await RunningServer.with(settings) { server in
      var ids: [UInt64] = []
      for number in 0..<5 { ids.append(try await server.published("\(number)")) }
      var stream = try await server.stream("news", headers: after(ids[0]))
      let notice = try await stream.next()
      #expect(notice?.event == "missed")
      #expect(notice?.id == nil)
      #expect(
        notice?.data == #"{"reason":"history","after":\#(ids[0]),"through":\#(ids[2])}"#)
      #expect(try await stream.data(2) == ["3", "4"])
      // A client that has the last removed event misses none.
      var other = try await server.stream("news", headers: after(ids[2]))
      #expect(try await other.data(2) == ["3", "4"])
    }
  }

  @Test(arguments: [0, 1, UInt64.max])
  func anUnknownIDIsReported(_ id: UInt64) async throws {
    try await RunningServer.with { server in
      let last = try await server.published("1")
      var stream = try await server.stream("news", headers: after(id))
      let notice = try await stream.next()
      #expect(notice?.event == "missed")
      #expect(notice?.data?.contains(#""after":\#(id),"#) == true)
      #expect(notice?.id == (id > last ? last : nil))
      if id > last { try await server.published("2") }
      #expect(try await stream.data(1) == [id > last ? "2" : "1"])
    }
  }

  @Test func keptEventsAreBoundedInBytes() async throws {
    var settings = Settings()
    settings.historyBytes = 100_000
    settings.maxEventBytes = 1000
    try await RunningServer.with(settings) { server in
      for number in 0..<400 { try await server.published("x", to: "t\(number)") }
      #expect(try await server.metric("history_bytes") <= 100_000)
      let kept = try await server.metric("history_events")
      #expect(kept > 0)
      #expect(try await server.metric("topics") == kept)
    }
  }

  /// Each of its line breaks is a field `data:` of its own.
  @Test(arguments: ["x", "\n"]) func theLongestEventArrivesWithoutAHistory(
    _ character: String
  ) async throws {
    var settings = Settings()
    settings.historyBytes = 0
    let text = String(repeating: character, count: settings.maxEventBytes)
    try await RunningServer.with(settings) { server in
      var one = try await server.stream()
      var several = try await server.events("topic=*")
      for _ in 1...3 {
        try await server.published(text)
        #expect(try await one.next()?.data == text)
        #expect(try await several.next()?.data?.hasPrefix(#"{"topic":"news","data":"#) == true)
      }
    }
  }

  @Test(arguments: [0, 1, 1000]) func noFrameIsLongerThanTheMaximum(_ count: Int) throws {
    let type = EventType(String(repeating: "x", count: EventType.maximumLength))
    for character in ["x", "\n", "\r", "\r\n"] {
      let text = String(repeating: character, count: count / character.utf8.count)
      let frame = Frame.event(
        id: .max, type: type, retryMilliseconds: Message.retryRange.upperBound,
        data: ByteBuffer(string: text))
      #expect(frame.readableBytes <= Frame.maximumBytes(ofData: count))
    }
  }

  @Test func reconnectingDuringPublicationsDropsNothing() async throws {
    var settings = Settings()
    settings.historyEvents = 300
    settings.bufferLimit = 300  // The loop of a stream may stand still for a while.
    try await RunningServer.with(settings) { server in
      let first = try await server.published("0")
      let publishing = Task {
        for number in 1...300 { try await server.published("\(number)") }
      }
      var last = first
      var seen: [String] = []
      while seen.count < 300 {
        var stream = try await server.stream("news", headers: after(last))
        for _ in 0..<7 where seen.count < 300 {
          let event = try #require(try await stream.next())
          try #require(event.event == nil, "\(event.data ?? "")")
          last = try #require(event.id)
          seen.append(try #require(event.data))
        }
      }
      try await publishing.value
      #expect(seen == (1...300).map(String.init))
    }
  }
}
