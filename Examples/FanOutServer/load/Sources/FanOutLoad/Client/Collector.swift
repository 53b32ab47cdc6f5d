/// What has come on the streams of one event loop. Used on that loop alone.
final class Collector {
  /// Called with the number of events that all streams of this loop have received.
  var onCompleted: ((Int) -> Void)?
  /// Latencies of earlier events are not recorded.
  var measuredFrom = Int.max
  /// Length of the data of every event.
  let payloadSize: Int

  /// One for each stream that was opened, also when it has ended.
  private var checks: [SequenceCheck] = []
  /// How many streams have received each event.
  private var receipts: [Int32] = []
  private var completed = 0
  private var tally = Tally()
  private var isClosing = false

  init(payloadSize: Int) {
    self.payloadSize = payloadSize
  }
}

extension Collector {
  /// Counts a stream in, and returns its number.
  func addStream() -> Int {
    checks.append(SequenceCheck())
    return checks.count - 1
  }

  /// Takes an event in that came on a stream.
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

  /// A stream ended that should not have.
  func streamFailed(_ error: any Error) {
    guard !isClosing else { return }
    tally.failedStreams += 1
    if tally.failure == nil { tally.failure = "\(error)" }
  }

  /// What has come up to now, when `published` events were sent.
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

  /// From now on streams may end, and nobody is told of events.
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
