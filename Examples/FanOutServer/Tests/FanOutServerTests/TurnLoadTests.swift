import NIOCore
import Testing

@testable import FanOutCore

@Suite struct TurnLoadTests {
  /// The pause after turns in a loop.
  ///
  /// - Parameters:
  ///   - turns: their starts and durations in milliseconds.
  ///   - events: those in each write.
  ///   - writes: those in each turn.
  private func pause(
    after turns: [(start: Int64, duration: Int64)], events: Int = 1, writes: Int = 1000
  ) -> TimeAmount {
    var load = TurnLoad()
    for turn in turns {
      let end = NIODeadline.uptimeNanoseconds(0) + .milliseconds(turn.start + turn.duration)
      load.add(
        .milliseconds(turn.duration), .init(events: events * writes, writes: writes), until: end)
    }
    return load.pause(after: .milliseconds(turns.last?.duration ?? 0))
  }

  /// A turn every `interval` milliseconds, for a second.
  private func regular(_ duration: Int64, every interval: Int64) -> [(Int64, Int64)] {
    stride(from: 0, to: 1000, by: Int64.Stride(interval)).map { ($0, duration) }
  }

  @Test func aLoopWithTimeForEachEventWritesItAtOnce() {
    #expect(pause(after: regular(7, every: 10)) == .zero)
    #expect(pause(after: regular(7, every: 20), events: 2) == .zero)
    #expect(pause(after: regular(9, every: 9), events: 0, writes: 0) == .zero)
  }

  @Test func aLoopWithoutTimeForEachEventPausesAsLongAsItsTurn() {
    #expect(pause(after: regular(7, every: 15), events: 3) == .milliseconds(7))
    #expect(pause(after: regular(9, every: 9), events: 2) == .milliseconds(9))
  }

  @Test func aLoopThatOnlyWritesPausesForPublications() {
    #expect(pause(after: regular(9, every: 10)) == .milliseconds(9))
  }

  @Test func turnsOfSeveralTopicsAddUp() {
    let small = stride(from: Int64(0), to: 1000, by: 10).map { ($0, Int64(1)) }
    let large = stride(from: Int64(1), to: 1000, by: 10).map { ($0, Int64(5)) }
    let both = zip(small, large).flatMap { [$0, $1] }
    #expect(pause(after: both) == .zero, "the loop has time, though a turn follows at once")
  }

  @Test func aQuietTimeEndsThePauses() {
    #expect(pause(after: regular(9, every: 9), events: 2) > .zero)
    #expect(pause(after: regular(9, every: 9) + [(5000, 9)], events: 2) == .zero)
  }

  @Test func aPauseIsLimited() {
    #expect(pause(after: regular(90, every: 90), events: 9) == TurnLoad.longestPause)
  }
}
