/// Reads the events of topics with their positions whenever its owner has time for them, without a
/// task of its own; returned by
/// ``TopicHub/reader(for:from:buffering:label:fileID:line:whenReadable:)``.
///
/// It is for an event loop that serves very many subscribers. A sequence has a task for each, which
/// takes more memory, and wakes up for each event.
///
/// What it has read, at most 64 events, is not missed any more. The subscription ends when the
/// reader is cancelled or destroyed.
///
/// ## Thread safety
/// It belongs to one isolation, such as an actor or an event loop: it is not `Sendable`.
public final class TopicReader<Event: Sendable>: Unreflected {
  @usableFromInline let core: TopicReaderCore
  /// What comes from an external log, before what is read.
  private var external: ExternalReading<Event>

  init(_ core: TopicReaderCore, _ retention: TopicRetention<Event>) {
    self.core = core
    external = ExternalReading(retention)
  }
}

extension TopicReader {
  /// Why the subscription has ended, once everything was returned: after it has ended, what waits
  /// is still returned, unless it was cancelled. `nil` until then.
  ///
  /// - Complexity: O(1).
  public var end: SubscriptionEnd? { core.ending }

  /// The place that the subscriber has reached: everything of its topics up to there was returned,
  /// or reported as missing. `nil` while something that was read is still to be returned, and while
  /// an external log has not begun, is asked, or has not answered whether it has the event with
  /// which the subscription began. `nil` after a cancellation, which discards what was read.
  ///
  /// It may be higher than the position of the last event that was returned, because a read goes
  /// on to the newest event of the hub, whatever its topic.
  ///
  /// - Complexity: O(1).
  public var position: EventPosition? { core.position }

  /// The next event or missing range, if there is one now.
  ///
  /// If ``end`` is not `nil` after a call that has returned `nil`, no more will come. Otherwise,
  /// `whenReadable` is called once when there may be more, or when the subscription has ended.
  ///
  /// - Returns: the event or range, or `nil`.
  /// - Complexity: for each read of up to 64 events, O(events) for one topic, O(events × topics)
  ///   for several, and O(all retained events after the last position) for patterns.
  @inlinable
  public func nextIfAvailable() -> PositionedTopicEvent<Event>? {
    if let item = core.nextEvent() { return PositionedTopicEvent(item, epoch: core.epoch) }
    return core.hasOther ? nextOther() : nil
  }

  /// Ends the subscription. Nothing more is returned, and `whenReadable` is not called any more,
  /// except by a thread that has begun to call it.
  ///
  /// - Complexity: O(topics).
  public func cancel() {
    core.cancel()
    discardExternal()
  }
}

extension TopicReader {
  /// The next missing range, or what comes from an external log; then what was read after it.
  @usableFromInline
  func nextOther() -> PositionedTopicEvent<Event>? {
    if let element = findOther() { return element }
    // Others have cancelled the subscription.
    if core.ending == .cancelled { discardExternal() }
    return nil
  }

  /// Cancels what an external log is asked, and discards its answers.
  private func discardExternal() {
    core.isElsewhere = false
    // User code runs when nothing accesses `external`: what a cancellation calls, and the `deinit`
    // of events.
    let question = external.question
    let remains = external.discard()
    question?.cancel()
    withExtendedLifetime(remains) {}
  }

  private func findOther() -> PositionedTopicEvent<Event>? {
    while core.ending == nil, core.hasOther {
      if core.isElsewhere {
        if let element = nextElsewhere() { return element }
        // Otherwise it is asked, or the subscription was cancelled.
        if core.isElsewhere { return nil }
      } else {
        switch core.reader.nextRead() {
        case .missed(let range): return PositionedTopicEvent(range)
        case .elsewhere(let range):
          external.begin(range)
          core.isElsewhere = true
        case .event(let item): return PositionedTopicEvent(item, epoch: core.epoch)
        case nil: break
        }
      }
      // May find that something else comes first.
      if let item = core.nextEvent() { return PositionedTopicEvent(item, epoch: core.epoch) }
    }
    return nil
  }

  /// The next of what comes from an external log, which this asks if necessary.
  ///
  /// - Returns: `nil`: nothing now, or all was returned.
  private func nextElsewhere() -> PositionedTopicEvent<Event>? {
    // The `deinit` of an event that is not needed any more may use this reader. So the events are
    // destroyed when nothing accesses `external`, and whatever was found before is checked again.
    while core.isElsewhere {
      var remains = ExternalReading<Event>.Remains()
      defer { withExtendedLifetime(remains) {} }
      if external.isWaiting {
        guard core.waitForAnswer({ external.takeAnswer(for: core.reader, &remains) }) else {
          return nil
        }
        continue
      }
      if let element = external.next() { return element }
      let notice = core.notice
      let isAsked = external.ask(for: core.reader, &remains) { notice.signal() }
      if !isAsked { core.isElsewhere = false }
    }
    return nil
  }
}
