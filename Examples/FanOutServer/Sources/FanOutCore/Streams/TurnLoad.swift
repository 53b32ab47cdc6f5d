internal import NIOCore

/// Decides how long an event loop lets the streams of a turn pause before the next turn.
///
/// A write with several events of a stream costs about as much as one with a single event. So if writing each
/// event by itself would take more than four fifths of the time of the loop, the streams pause as long as the
/// turn took, and the next one finds several events of each. Otherwise each event is written at once. The last
/// fifth is for publications: a loop that has no time to receive them finds one event in each turn, and would
/// never pause.
///
/// It estimates that over periods of a tenth of a second: single turns come in any intervals.
struct TurnLoad {
  /// What a turn has written: events, each once for each stream, and the number of writes to streams.
  struct Written {
    var events = 0
    var writes = 0
  }

  static let longestPause = TimeAmount.milliseconds(20)
  private static let period = TimeAmount.milliseconds(100)
  /// The part of the time that writes may take.
  private static let timeForWrites = 0.8

  /// When the period began; `nil` before the first turn.
  private var start: NIODeadline?
  /// The nanoseconds that writing each event of the period by itself would have taken.
  private var timeForEach = 0.0
  private var isBusy = false

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
    guard end - start >= Self.period else { return }
    isBusy = timeForEach > Double((end - start).nanoseconds) * Self.timeForWrites
    self.start = end
    timeForEach = 0
  }

  /// The pause after a turn that took this long.
  func pause(after duration: TimeAmount) -> TimeAmount {
    isBusy ? min(Self.longestPause, duration) : .zero
  }
}
