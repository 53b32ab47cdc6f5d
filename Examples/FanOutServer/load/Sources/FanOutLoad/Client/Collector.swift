/// Checks and counts the events of the streams of one event loop. Only that loop uses it.
final class Collector {
  /// Called with the number of events that all streams of this loop have received.
  var onCompleted: ((Int) -> Void)?
  /// The first event to measure.
  var measuredFrom = Int.max
  /// The expected length of the data of each event.
  let payloadSize: Int

  /// One per opened stream, including those that have ended.
  private var checks: [SequenceCheck] = []
  /// The number of streams that have received each event.
  private var receipts: [Int32] = []
  private var completed = 0
  private var tally = Tally()
  private var isClosing = false

  init(payloadSize: Int) {
    self.payloadSize = payloadSize
  }
}

extension Collector {
  /// Adds a stream, and returns its number.
  func addStream() -> Int {
    checks.append(SequenceCheck())
    return checks.count - 1
  }

  /// Checks and counts an event of a stream.
  @inline(__always)
  func receive(_ event: EventScanner.Event, at now: UInt64, on stream: Int) {
    guard let payload = event.payload, payload.sequence < Schedule.limit,
      event.dataLength == payloadSize, !event.isNotice
    else {
      if event.isNotice { tally.notices += 1 } else { tally.foreign += 1 }
      return
    }
    if !event.hasID { tally.withoutID += 1 }
    guard checks[stream].receive(payload.sequence) else { return }

    if payload.sequence >= measuredFrom {
      tally.deliveries += 1
      tally.latencies.record(now &- payload.sentAt)
      tally.lastReceipt = now
    }
    count(payload.sequence)
  }

  /// Counts a stream that ended unexpectedly.
  func streamFailed(_ error: any Error) {
    guard !isClosing else { return }
    tally.failedStreams += 1
    if tally.failure == nil { tally.failure = "\(error)" }
  }

  /// The results so far, after `published` events.
  func tally(published: Int) -> Tally {
    var tally = tally
    for check in checks {
      let missing = check.missing(of: published)
      tally.missing += missing
      tally.repeated += check.repeated
      if missing > 0 { tally.streamsWithMissing += 1 }
    }
    return tally
  }

  /// Stops the calls of `onCompleted`. Streams may end from now on.
  func close() {
    isClosing = true
    onCompleted = nil
  }

  @inline(__always)
  private func count(_ sequence: Int) {
    while receipts.count <= sequence { receipts.append(0) }
    receipts[sequence] += 1
    guard receipts[sequence] == checks.count, sequence >= completed else { return }
    completed = sequence + 1
    onCompleted?(completed)
  }
}
