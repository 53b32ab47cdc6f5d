// What the hub retains, and how subscribers read it.

extension EventSequencer {
  /// Whether the hub retains events.
  var retains: Bool { !rules.isNone }

  /// Runs `body` inside the lock, after events that are too old were removed.
  func withTrimmedLog<R>(_ body: () -> R) -> R {
    var garbage = RetainedLog.Garbage()
    return withTrimmedLog(&garbage, body)
    // The garbage is destroyed here, outside the lock.
  }

  /// As above; the caller destroys the garbage, outside the lock.
  private func withTrimmedLog<R>(_ garbage: inout RetainedLog.Garbage, _ body: () -> R) -> R {
    let now = rules.now
    return lock.withLockAfterPolling {
      if let now { log.trim(now: now, &garbage) }
      return body()
    }
  }

  /// Removes events that the rules of the user do not keep, now that `event` is in the log.
  ///
  /// The caller has the role of delivering, so one thread at a time calls this.
  func applyUserRules(to event: Event, _ number: UInt64) {
    var garbage = RetainedLog.Garbage()
    if let index = rules.index {
      if let replaced = index.replace(event, number) {
        lock.withLock { log.replace(replaced, &garbage) }
      }
      let (count, trimmed) = lock.withLock { (log.count, log.trimmedThrough) }
      // Keys of events that have left. Amortised: at least half of the keys go.
      if index.count() > 2 * count + 64 { index.removeKeys(trimmed) }
    }
    if let keeps = rules.keeps {
      while let oldest = lock.withLock({ log.oldest }), !keeps(oldest.envelope.event(Event.self)) {
        lock.withLock { log.trim(through: oldest.number, &garbage) }
      }
    }
  }

  /// The newest event that is retained.
  ///
  /// It removes nothing from the log: the caller would destroy what has become too old.
  var newest: Event? {
    let now = rules.now
    return lock.withLockAfterPolling { log.newest(at: now) }?.envelope.event(Event.self)
  }

  /// The number of the newest event.
  var newestNumber: UInt64 { lock.withLockAfterPolling { log.newestNumber } }

  /// The number after which a subscription begins. It is in the registry already.
  ///
  /// - Returns: the number; the events after it that are missing, if they are; the number of the
  ///   newest event; and whether the hub has ended.
  func begin(
    _ start: SubscriptionStart
  ) -> (number: UInt64, missed: MissedEvents?, newest: UInt64, isEnded: Bool) {
    withTrimmedLog {
      let newest = log.newestNumber
      switch start {
      case .live: return (newest, nil, newest, isEnded)
      case .retained: return (log.trimmedThrough, nil, newest, isEnded)
      case .last(let count): return (log.number(beforeLast: count), nil, newest, isEnded)
      case .after(let position, let limit):
        if position.epoch == rules.epoch, position.number <= newest,
          !log.hasMore(than: limit, after: position.number)
        {
          // The first read finds what was trimmed.
          return (position.number, nil, newest, isEnded)
        }
        let first = limit == .max ? 0 : log.number(beforeLast: limit)
        // A position that this hub does not know, or too many events after it. If the hub has begun
        // anew, all that it has is new.
        let isAhead = position.epoch == rules.epoch && position.number > newest
        let number = isAhead ? newest : max(first, log.trimmedThrough)
        let missed = MissedEvents(
          after: position, through: EventPosition(epoch: rules.epoch, number: number))
        return (number, missed, newest, isEnded)
      }
    }
  }

  /// Appends the events after `number` to `items`.
  ///
  /// - Parameters:
  ///   - limit: the most events to read.
  ///   - garbage: gets what has left the log. No event is destroyed inside.
  /// - Returns: the number from which the events were read, which is higher if they were trimmed;
  ///   the number after which to read on; and that of the newest event.
  func read(
    after number: UInt64, atMost limit: Int, into items: inout RingBuffer<RetainedLog.Item>,
    _ garbage: inout RetainedLog.Garbage
  ) -> (first: UInt64, last: UInt64, newest: UInt64) {
    withTrimmedLog(&garbage) {
      let first = max(number, log.trimmedThrough)
      return (first, log.read(after: first, atMost: limit, into: &items), log.newestNumber)
    }
  }
}
