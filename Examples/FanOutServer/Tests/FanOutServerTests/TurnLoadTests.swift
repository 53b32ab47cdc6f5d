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

  @Test func aLoopWithoutTimeForEachEventPausesForHalfOfItsTurn() {
    #expect(pause(after: regular(8, every: 12), events: 3) == .milliseconds(4))
    #expect(pause(after: regular(8, every: 8), events: 2) == .milliseconds(4))
  }

  /// A loop that writes the events of one publisher, who waits for the answer to each.
  private struct Publisher {
    var load = TurnLoad()
    var now: Int64 = 0
    var published: Int64 = 0
    var turns = 0
    var pauses = 0

    /// Runs until the time, in microseconds.
    ///
    /// - Parameters:
    ///   - interval: that of the events, in microseconds, if the publisher is not held back.
    ///   - turn: how long writing to 1,000 streams takes, in microseconds.
    mutating func run(until end: Int64, interval: Int64, turn: Int64) {
      while now < end {
        let pause = load.pause(after: .microseconds(turn)).nanoseconds / 1000
        // One event is there at the latest when the publisher has the next; a pause is time for
        // more.
        now = max(now + pause, published * interval)
        let due = now / interval + 1 - published
        let events = pause > 0 ? due : 1
        published += events
        now += turn
        turns += 1
        if pause > 0 { pauses += 1 }
        load.add(
          .microseconds(turn), .init(events: Int(events) * 1000, writes: 1000),
          until: .uptimeNanoseconds(0) + .microseconds(now))
      }
    }
  }

  @Test func eventsOfAPublisherWithNothingMoreToPublishAreWrittenAtOnce() {
    var publisher = Publisher()
    publisher.run(until: 10_000_000, interval: 10_000, turn: 9_000)
    #expect(publisher.published >= 998)
    // A tenth of a second in every two is a trial.
    #expect((1...60).contains(publisher.pauses), "\(publisher)")
  }

  @Test func aPublisherThatWaitsForAnswersIsNotHeldBack() {
    var publisher = Publisher()
    publisher.run(until: 10_000_000, interval: 5_000, turn: 9_000)
    #expect(publisher.published >= 1_990, "\(publisher)")
    // All turns but those of the first tenth of a second.
    #expect(publisher.turns - publisher.pauses <= 12, "\(publisher)")
  }

  @Test func pausesAreTriedAtOnceWhenThePublisherIsFaster() {
    var publisher = Publisher()
    publisher.run(until: 1_000_000, interval: 12_500, turn: 10_100)
    let pauses = publisher.pauses
    publisher.published = publisher.now / 2_000  // Nothing is late.
    publisher.run(until: 1_300_000, interval: 2_000, turn: 8_000)
    #expect(publisher.pauses - pauses >= 10, "\(publisher)")
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
