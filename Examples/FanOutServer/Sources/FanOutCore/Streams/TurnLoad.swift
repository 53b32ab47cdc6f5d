internal import NIOCore

/// Decides how long an event loop lets the streams of a turn pause before the next turn.
///
/// A write with several events of a stream costs about as much as one with a single event, so
/// pauses can save time. A publisher that waits for the answer to each event publishes one in each
/// turn, and the loop writes it by itself, though the publisher would publish more. In a pause the
/// loop reads several, and the next turn writes them together. But if the publishers have no more
/// to publish, pauses only delay events. A busy loop cannot see which it is. So it tries pauses,
/// and keeps to them if it could not have written each event by itself.
///
/// It estimates over periods of a tenth of a second: single turns come in any intervals.
struct TurnLoad {
  /// What a turn has written: events, each once for each stream, and the number of writes to
  /// streams.
  struct Written {
    var events = 0
    var writes = 0
  }

  private static let period = TimeAmount.milliseconds(100)
  /// The part of the time of the loop that writing each event by itself takes, above which pauses
  /// are tried.
  private static let loadOfTrial = 0.8
  /// The part above which pauses are kept. Turns were measured to take longer with pauses than
  /// without, so what is a little more than 1 with pauses may be less without.
  private static let loadOfPauses = 1.2
  /// The shortest time between two trials, unless the rate of events has risen.
  private static let timeBetweenTrials = TimeAmount.seconds(2)
  /// How much the rate of events must have risen.
  private static let rise = 1.25
  static let longestPause = TimeAmount.milliseconds(5)

  /// When the period began; `nil` before the first turn.
  private var start: NIODeadline?
  /// The nanoseconds that writing each event of the period by itself would have taken.
  private var timeForEach = 0.0
  /// The events of the period.
  private var events = 0
  /// Whether the streams pause between turns.
  private var isPausing = false
  /// When pauses ended, and how many events were written in each nanosecond then.
  private var lastPauses = (end: NIODeadline.uptimeNanoseconds(0), rate: 0.0)

  /// Adds a turn.
  ///
  /// - Parameters:
  ///   - duration: how long it took.
  ///   - end: when it ended.
  mutating func add(_ duration: TimeAmount, _ written: Written, until end: NIODeadline) {
    let start = start ?? end - duration
    self.start = start
    let eventsPerWrite = Double(written.events) / Double(max(1, written.writes))
    timeForEach += Double(duration.nanoseconds) * eventsPerWrite
    events += written.events
    guard end - start >= Self.period else { return }
    endPeriod(of: Double((end - start).nanoseconds), at: end)
    self.start = end
    timeForEach = 0
    events = 0
  }

  private mutating func endPeriod(of nanoseconds: Double, at end: NIODeadline) {
    let load = timeForEach / nanoseconds
    let rate = Double(events) / nanoseconds
    if isPausing {
      guard load <= Self.loadOfPauses else { return }
      isPausing = false
      lastPauses = (end, rate)
    } else if load > Self.loadOfTrial {
      isPausing =
        end - lastPauses.end >= Self.timeBetweenTrials || rate > lastPauses.rate * Self.rise
    }
  }

  /// The pause after a turn that took this long.
  func pause(after duration: TimeAmount) -> TimeAmount {
    // Half of the turn: the loop reads several publications, and events wait little longer than for
    // the turn.
    isPausing ? min(Self.longestPause, .nanoseconds(duration.nanoseconds / 2)) : .zero
  }
}
