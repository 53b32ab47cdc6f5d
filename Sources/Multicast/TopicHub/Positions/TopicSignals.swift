/// Makes one subscriber of topics read the log.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class TopicSignals: @unchecked Sendable {
  // Sendable: `subscriptions`, `ended` and `reading` are accessed inside `lock` alone; everything
  // else is thread-safe.

  /// What reads, when it is signalled.
  let target: any ReadTarget
  /// Guards `subscriptions`, `ended` and `reading`. Subscriptions end, and the target is called,
  /// outside.
  private let lock = Lock()
  /// What sends the signals; `nil` while the subscriber subscribes.
  private var subscriptions: [EventSubscription]?
  /// The number of the first subscriptions that have ended.
  private var ended = 0
  /// Where the target reads; `nil` while the subscriber subscribes.
  private var reading: (log: TopicLog, cursor: TopicCursor)?

  init(_ target: any ReadTarget) {
    self.target = target
    signal()
  }

  func signal() { target.signal() }

  /// Sets what sends the signals. One may have ended already.
  func begin(_ subscriptions: [EventSubscription]) {
    lock.withLock { self.subscriptions = subscriptions }
  }

  /// Sets where the target reads. Call ``endIfInactive()`` afterwards.
  func setCursor(_ cursor: TopicCursor, in log: TopicLog) {
    lock.withLock { reading = (log, cursor) }
  }

  /// What sends the signals, by the topics that the subscriber named.
  var senders: [EventSubscription] { lock.withLock { subscriptions } ?? [] }

  /// A topic has ended, whose subscription is not active any more. After the last one the target
  /// reads what is left, and ends.
  ///
  /// - Complexity: amortised O(1), until the last one.
  func topicHasEnded() {
    if !isActive { endIfInactive() }
    // An event of this topic may be in the log, whose sender finds no subscription any more.
    signal()
  }

  /// Whether a subscription is active, or not all have been made.
  private var isActive: Bool {
    let (made, first) = lock.withLock { (subscriptions, self.ended) }
    guard let subscriptions = made else { return true }
    var ended = first
    while ended < subscriptions.count, subscriptions[ended].end != nil { ended += 1 }
    lock.withLock { self.ended = max(self.ended, ended) }
    return ended < subscriptions.count
  }

  /// Ends the target if no subscription is active, and all have been made: as finished if one of
  /// them has finished, with the error of the first that has one, otherwise as cancelled. What is
  /// sent afterwards does not reach it.
  ///
  /// - Parameter isCancelled: whether all subscriptions of the hub were cancelled: then a target
  ///   that has not ended before is cancelled, although one of its topics has finished.
  func endIfInactive(isCancelled: Bool = false) {
    let (subscriptions, reading) = lock.withLock { (self.subscriptions, self.reading) }
    guard let subscriptions, let reading else { return }
    let ends = subscriptions.map(\.end)
    guard !ends.contains(nil) else {
      if ends.contains(.cancelled) {
        reading.log.recordCancelled(ends.map { $0 == .cancelled }, of: reading.cursor)
      }
      return
    }
    if ends.contains(.finished), !(isCancelled && ends.contains(.cancelled)) {
      // Before the target learns of the end, and reads what is left.
      let isRecorded = !zip(subscriptions, ends).contains {
        $0.1 == .finished && $0.0.registration.registry.extras?.topicEnd == nil
      }
      reading.log.endReading(of: reading.cursor, isRecorded: isRecorded)
      target.end(.finished, subscriptions.lazy.compactMap(\.failure).first)
    } else {
      cancel()
    }
  }

  /// Ends the subscriptions, and the target.
  func cancel() {
    for subscription in senders { subscription.cancel() }
    target.end(.cancelled, nil)
    // Otherwise it has finished before, and still reads what was sent until then.
    guard target.end == .cancelled, let reading = lock.withLock({ self.reading }) else { return }
    // What comes from now on is not missed, also if the target does not read any more.
    reading.log.release(reading.cursor)
  }
}
