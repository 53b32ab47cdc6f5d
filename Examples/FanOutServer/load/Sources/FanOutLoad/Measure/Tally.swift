/// The received events, and the errors among them.
struct Tally: Sendable {
  /// Measured events that arrived, over all streams.
  var deliveries = 0
  var latencies = Latencies()
  /// When the last of them arrived.
  var lastReceipt: UInt64 = 0

  /// Events that a stream did not get.
  var missing = 0
  var streamsWithMissing = 0
  /// Events that a stream got again, or after a later one.
  var repeated = 0
  /// Events that this client did not publish, or whose data has a different length.
  var foreign = 0
  var withoutID = 0
  /// Events of the server itself, with an `event:` line.
  var notices = 0
  /// Streams that ended unexpectedly, and the reason of the first one.
  var failedStreams = 0
  var failure: String?
}

extension Tally {
  static func + (a: Tally, b: Tally) -> Tally {
    var sum = a
    sum.deliveries += b.deliveries
    sum.latencies.add(b.latencies)
    sum.lastReceipt = max(a.lastReceipt, b.lastReceipt)
    sum.missing += b.missing
    sum.streamsWithMissing += b.streamsWithMissing
    sum.repeated += b.repeated
    sum.foreign += b.foreign
    sum.withoutID += b.withoutID
    sum.notices += b.notices
    sum.failedStreams += b.failedStreams
    sum.failure = a.failure ?? b.failure
    return sum
  }

  /// The errors, one line each; empty if each stream got each event exactly once and in order.
  var complaints: [String] {
    var lines: [String] = []
    if missing > 0 { lines.append("\(missing) events missing on \(streamsWithMissing) streams") }
    if repeated > 0 { lines.append("\(repeated) events repeated or out of order") }
    if foreign > 0 { lines.append("\(foreign) events that were not published like this") }
    if withoutID > 0 { lines.append("\(withoutID) events without an id") }
    if notices > 0 { lines.append("\(notices) notices of missed events") }
    if failedStreams > 0 {
      lines.append("\(failedStreams) streams failed, the first one: \(failure ?? "")")
    }
    return lines
  }
}
