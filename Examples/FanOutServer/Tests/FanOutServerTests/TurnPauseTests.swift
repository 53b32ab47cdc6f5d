import NIOCore
import Testing

@testable import FanOutCore

@Suite struct TurnPauseTests {
  private func pause(
    after duration: Int64, events: Int, streams: Int, since interval: Int64
  ) -> TimeAmount {
    TurnPause.after(
      .milliseconds(duration), .init(events: events, streams: streams),
      since: .milliseconds(interval))
  }

  @Test func aLoopWithTimeForEachEventWritesItAtOnce() {
    #expect(pause(after: 7, events: 1000, streams: 1000, since: 10) == .zero)
    #expect(pause(after: 7, events: 2000, streams: 1000, since: 20) == .zero)
    #expect(pause(after: 1, events: 0, streams: 0, since: 1) == .zero)
  }

  @Test func aLoopWithoutTimeForEachEventPausesAsLongAsItsTurn() {
    #expect(pause(after: 7, events: 1000, streams: 1000, since: 5) == .milliseconds(7))
    #expect(pause(after: 7, events: 3000, streams: 1000, since: 15) == .milliseconds(7))
  }

  @Test func manyStreamsWithAnEventEachAreNotABacklog() {
    #expect(pause(after: 3, events: 500, streams: 500, since: 4) == .zero)
  }

  @Test func aPauseIsLimited() {
    #expect(pause(after: 90, events: 9000, streams: 1000, since: 95) == TurnPause.longest)
  }
}
