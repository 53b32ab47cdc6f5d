/// The place in the log of a hub of topics that one subscriber has reached.
///
/// ## Thread safety
/// One thread at a time: the consumer of the subscriber's mailbox.
final class TopicLogReader<Event: Sendable>: PositionReader, @unchecked Sendable {
  // Sendable: see "Thread safety"; what hands the mailbox from thread to thread hands this over too.

  private let log: TopicLog<Event>
  private let topics: TopicLog<Event>.Topics
  /// The number of the last event that was read.
  private var number: UInt64 = 0
  private var told: TopicLog<Event>.Told = [:]
  /// What to report before the next event.
  private var missed: [PositionedTopicEvent<Event>] = []
  /// Events that were read and not yet returned.
  private var batch = RingBuffer<TopicLog<Event>.Item>()
  /// The number of the newest event at the last read.
  private var newest: UInt64 = 0
  /// The number of the newest event when the consumer began to handle the signal that it handles; `nil`
  /// if it has not begun, or handles none.
  private var goal: UInt64?
  /// What tells the consumer to read: it ends with the reader.
  private var signals: [EventSubscription] = []

  init(_ log: TopicLog<Event>, _ topics: TopicLog<Event>.Topics) {
    self.log = log
    self.topics = topics
  }
}

extension TopicLogReader {
  /// Sets the place where the subscriber begins.
  ///
  /// - Parameter signals: tell the subscriber of every later event.
  func begin(_ start: SubscriptionStart, signals: [EventSubscription]) {
    self.signals = signals
    switch start {
    case .live: number = log.newest
    case .retained: (number, told) = log.numberBeforeAll(of: topics)
    case .last(let count): (number, told) = log.number(beforeLast: count, of: topics)
    case .after(let position):
      if position.epoch == log.rules.epoch, position.number <= log.newest {
        number = position.number  // The first read finds what was trimmed.
        return
      }
      // A position that this hub does not know. If the hub has begun anew, all that it has is new.
      if position.epoch == log.rules.epoch {
        number = log.newest
      } else {
        (number, told) = log.numberBeforeAll(of: topics)
      }
      let range = MissedEvents(after: position, through: self.position(number))
      missed.append(.missed(range, of: nil))
    }
  }

  /// The next event of those that were read, or what was missed before it.
  func nextRead() -> PositionedTopicEvent<Event>? {
    if !missed.isEmpty { return missed.removeFirst() }
    guard let item = batch.popFirst() else { return nil }
    let event = TopicEvent(topic: item.topic, event: item.envelope.event(Event.self))
    return .event(event, at: position(item.number))
  }

  /// Reads more events, after all were returned.
  ///
  /// - Returns: whether there is anything to return.
  func read(atMost limit: Int) -> Bool {
    guard missed.isEmpty else { return true }
    let (missing, last, newest) = log.read(
      topics, after: number, atMost: limit, told: &told, into: &batch)
    self.newest = newest
    missed = missing.map {
      .missed(
        MissedEvents(after: position($0.after), through: position($0.through)), of: $0.topic)
    }
    number = last
    return !missed.isEmpty || !batch.isEmpty
  }

  func beginSignal(atMost limit: Int) {
    goal = nil
    readToGoal(atMost: limit)
  }

  func readToGoal(atMost limit: Int) {
    let hasRead = hasRead
    if !hasRead { _ = read(atMost: limit) }
    if goal == nil { goal = hasRead ? log.newest : newest }
  }

  var hasRead: Bool { !missed.isEmpty || !batch.isEmpty }

  var readCount: Int { batch.count }

  var isAtGoal: Bool {
    guard let goal else { return true }
    return missed.isEmpty && (batch.isEmpty ? number : batch[0].number - 1) >= goal
  }

  func discardRead() {
    // Destroys events, whose `deinit` may do anything, so they are no longer in `batch` then.
    var discarded = RingBuffer<TopicLog<Event>.Item>()
    swap(&discarded, &batch)
    missed = []
  }

  private func position(_ number: UInt64) -> EventPosition {
    EventPosition(epoch: log.rules.epoch, number: number)
  }
}
