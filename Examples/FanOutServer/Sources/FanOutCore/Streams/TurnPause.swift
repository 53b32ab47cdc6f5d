internal import NIOCore

/// How long an event loop lets the streams of a turn pause before the next turn.
///
/// A write with several events of a stream costs about as much as one with a single event. So if turns with one
/// event each would take more than all the time of the loop, the streams pause as long as the turn took, and
/// the next one finds several events of each. Otherwise each event is written at once.
enum TurnPause {
  /// What a turn has written: events, each once for each stream, and how often it wrote to a stream.
  struct Written {
    var events = 0
    var streams = 0
  }

  static let longest = TimeAmount.milliseconds(20)

  /// - Parameters:
  ///   - duration: that of the turn.
  ///   - interval: from the start of the turn before to that of this one: the events came in this time.
  static func after(
    _ duration: TimeAmount, _ written: Written, since interval: TimeAmount
  ) -> TimeAmount {
    let eventsPerStream = Double(written.events) / Double(max(1, written.streams))
    let timeForEach = Double(duration.nanoseconds) * eventsPerStream
    return timeForEach > Double(interval.nanoseconds) ? min(longest, duration) : .zero
  }
}
