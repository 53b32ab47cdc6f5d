/// The events that a hub of topics keeps: a log for each topic, with the numbers of one sequence.
///
/// ```
///   order:  1 a │ 2 b │ 3 a │ 4 c │ …       every event, by number
///   rooms:  a ▶ 1, 3    b ▶ 2    c ▶ 4      the events of each topic
/// ```
/// An event gets its number and is in both inside one critical section. So a reader that has read the
/// events of some topics up to a number has all of them, and needs no more than that number to go on.
///
/// A topic is kept as long as one of its events is. Of topics that are not kept, `floor` tells up to
/// which number they may have had events.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class TopicLog<Event: Sendable>: @unchecked Sendable {
  // Sendable: everything that changes is accessed inside `lock` alone.

  /// The events of a topic.
  private final class Room {
    let topic: String
    /// The number up to which the topic may have had events when it was not kept.
    let floor: UInt64
    var log: RetainedLog

    init(_ topic: String, _ log: consuming RetainedLog) {
      self.topic = topic
      floor = log.trimmedThrough
      self.log = log
    }
  }

  /// What is counted, of all topics.
  struct Statistics {
    var events = 0
    var topics = 0
    var bytes = 0
  }

  /// An event of a topic, and its number.
  struct Item {
    let topic: String
    let number: UInt64
    let envelope: Envelope
  }

  let rules: RetentionRules<Event>
  private let perTopic: Retention<Event>
  private let maxCount: Int
  private let maxBytes: Int
  private let maxAge: Duration?
  /// Guards the logs. No user code runs inside: the hash of a `String` is none.
  private let lock = Lock()
  private var rooms: [String: Room] = [:]
  /// Every event by number, and some that have left their log.
  private var order = RingBuffer<(number: UInt64, room: Room)>()
  private var newestNumber: UInt64 = 0
  /// The highest number of an event of a topic that is not kept.
  private var floor: UInt64 = 0
  /// The highest number of an event that is not kept any more.
  private var maxTrimmed: UInt64 = 0
  private var count = 0
  private var bytes = 0
  private var periods = RingBuffer<(end: Duration, through: UInt64)>()

  /// - Parameters:
  ///   - perTopic: what is kept of each topic.
  ///   - total: what is kept of all topics together.
  ///   - epoch: that of the positions; `nil`: a random one.
  init(_ perTopic: Retention<Event>, total: Retention<Event>, epoch: UInt64?) {
    self.perTopic = perTopic
    maxCount = total.count
    maxBytes = total.bytes
    maxAge = [perTopic.age, total.age].compactMap { $0 }.min()
    var both = Retention<Event>.all
    both.count = perTopic.count
    both.size = perTopic.size ?? total.size
    both.age = maxAge
    rules = RetentionRules(both, epoch: epoch)
  }
}

// MARK: - Appending

extension TopicLog {
  /// Gives `event` the next number, and keeps it.
  func append(_ event: Event, to topic: String) -> UInt64 {
    let retained = rules.retained(event)
    var garbage = RetainedLog.Garbage()
    return lock.withLock {
      newestNumber += 1
      let number = newestNumber
      let room = rooms[topic] ?? addRoom(topic)
      change(room) {
        $0.append(
          retained.envelope, number: number, size: retained.size, now: retained.now, &garbage)
      }
      order.append((number, room))
      while count > maxCount || bytes > maxBytes, trimOldest(&garbage) {}
      if room.log.count == 0 { remove(room) }
      trim(now: retained.now, &garbage)
      if maxAge != nil { beginPeriod(number, now: retained.now) }
      if order.count > 2 * count + 64 { removeStale() }
      return number
    }
    // The garbage is destroyed here, outside the lock.
  }

  private func addRoom(_ topic: String) -> Room {
    let log = RetainedLog(
      count: perTopic.count, bytes: perTopic.bytes, isMeasured: rules.isMeasured, after: floor)
    let room = Room(topic, log)
    rooms[topic] = room
    return room
  }

  private func remove(_ room: Room) {
    floor = max(floor, room.log.trimmedThrough)
    if rooms[room.topic] === room { rooms[room.topic] = nil }
  }

  /// Changes the log of a room, and counts what that changes.
  private func change(_ room: Room, _ body: (inout RetainedLog) -> Void) {
    count -= room.log.count
    bytes -= room.log.bytes
    body(&room.log)
    count += room.log.count
    bytes += room.log.bytes
    if room.log.trimmedThrough > maxTrimmed { maxTrimmed = room.log.trimmedThrough }
  }

  /// Removes the oldest event of all topics.
  ///
  /// - Returns: `false` if there is none.
  private func trimOldest(_ garbage: inout RetainedLog.Garbage) -> Bool {
    guard let (number, room) = order.popFirst() else { return false }
    // Otherwise it has left its log before.
    guard room.log.oldest?.number == number else { return true }
    change(room) { $0.trim(through: number, &garbage) }
    if room.log.count == 0 { remove(room) }
    return true
  }

  /// Removes events that are too old.
  private func trim(now: Duration, _ garbage: inout RetainedLog.Garbage) {
    guard let maxAge else { return }
    while !periods.isEmpty, periods[0].end + maxAge <= now, let period = periods.popFirst() {
      while !order.isEmpty, order[0].number <= period.through, trimOldest(&garbage) {}
    }
  }

  private func beginPeriod(_ number: UInt64, now: Duration) {
    if !periods.isEmpty, now < periods[periods.count - 1].end {
      periods[periods.count - 1].through = number
    } else {
      periods.append((now + maxAge! / 64, number))
    }
  }

  /// Removes events from `order` that have left their log. Amortised: at least half of them.
  private func removeStale() {
    var rest = RingBuffer<(number: UInt64, room: Room)>()
    while let next = order.popFirst() {
      if let oldest = next.room.log.oldest, oldest.number <= next.number { rest.append(next) }
    }
    swap(&order, &rest)
  }
}

// MARK: - Reading

extension TopicLog {
  /// The topics of a reader: names, or every topic that a function accepts.
  enum Topics: Sendable {
    case names([String])
    case matching(@Sendable (String) -> Bool)
  }

  /// The number of the newest event.
  var newest: UInt64 { lock.withLock { newestNumber } }

  var statistics: Statistics {
    trimmed { Statistics(events: count, topics: rooms.count, bytes: bytes) }
  }

  /// The number of elements of `order`, for tests.
  var orderCount: Int { lock.withLock { order.count } }

  /// The names of the topics that are kept.
  var topics: [String] { trimmed { Array(rooms.keys) } }

  /// What one reader was told to be missing: the number up to which, by topic.
  typealias Told = [String?: UInt64]

  /// The number after which all events of `topics` are that are kept.
  ///
  /// - Returns: the number; and what a reader that begins there need not be told.
  func numberBeforeAll(of topics: Topics) -> (UInt64, Told) {
    trimmed { begin(beforeLast: .max, of: topics) }
  }

  /// The number after which the newest `limit` events of `topics` begin.
  ///
  /// - Returns: as ``numberBeforeAll(of:)``.
  func number(beforeLast limit: Int, of topics: Topics) -> (UInt64, Told) {
    trimmed { begin(beforeLast: limit, of: topics) }
  }

  private func begin(beforeLast limit: Int, of topics: Topics) -> (UInt64, Told) {
    let number =
      switch topics {
      case .names(let names): start(beforeLast: limit, in: names.compactMap { rooms[$0] })
      case .matching(let accepts): start(beforeLast: limit, accepts)
      }
    var told: Told = [:]
    _ = missing(topics, after: number, &told)
    return (number, told)
  }

  /// The number after which the newest `limit` events of some topics begin.
  private func start(beforeLast limit: Int, in rooms: [Room]) -> UInt64 {
    guard limit > 0 else { return newestNumber }
    let all = rooms.reduce(0) { $0 + $1.log.count }
    if all <= limit {
      return rooms.compactMap { $0.log.oldest?.number }.min().map { $0 - 1 } ?? newestNumber
    }
    // At most this many of each.
    var numbers: [UInt64] = []
    for room in rooms {
      var items = RingBuffer<RetainedItem>()
      let first = room.log.number(beforeLast: limit)
      _ = room.log.read(after: first, atMost: limit, into: &items)
      while let item = items.popFirst() { numbers.append(item.number) }
    }
    numbers.sort()
    return numbers[numbers.count - limit] - 1
  }

  /// The number after which the newest `limit` events of the topics begin that `accepts` accepts.
  private func start(beforeLast limit: Int, _ accepts: (String) -> Bool) -> UInt64 {
    var number = newestNumber
    var rest = limit
    var offset = order.count
    while rest > 0, offset > 0 {
      offset -= 1
      guard isKept(order[offset]), accepts(order[offset].room.topic) else { continue }
      number = order[offset].number - 1
      rest -= 1
    }
    return number
  }

  /// Events of a topic that a reader does not get.
  struct Missing {
    /// `nil`: topics that are not kept any more may have had events.
    let topic: String?
    let after: UInt64
    let through: UInt64
  }

  /// Appends the events of `topics` after `number` to `items`, in the order of their numbers.
  ///
  /// - Parameters:
  ///   - limit: the most events to read.
  ///   - told: what the reader was told, and is told now.
  /// - Returns: events after `number` that are not kept, or may not be, and of which the reader was not
  ///   told; the number after which to read on; and that of the newest event.
  /// - Complexity: O(`limit`) for one name, O(`limit` × names) for several, and O(all events after
  ///   `number`) for a function; O(topics) in addition if any event after `number` is not kept.
  func read(
    _ topics: Topics, after number: UInt64, atMost limit: Int, told: inout Told,
    into items: inout RingBuffer<Item>
  ) -> (missing: [Missing], last: UInt64, newest: UInt64) {
    trimmed {
      let missing = maxTrimmed > number ? missing(topics, after: number, &told) : []
      switch topics {
      case .names(let names):
        let rooms = names.compactMap { self.rooms[$0] }
        return (missing, read(rooms, after: number, limit, &items), newestNumber)
      case .matching(let accepts):
        return (missing, scan(accepts, after: number, limit, &items), newestNumber)
      }
    }
  }

  private func missing(
    _ topics: Topics, after number: UInt64, _ told: inout Told
  ) -> [Missing] {
    var missing: [Missing] = []
    func add(_ topic: String?, through: UInt64) {
      let after = max(number, told[topic] ?? 0)
      guard through > after else { return }
      told[topic] = through
      missing.append(Missing(topic: topic, after: after, through: through))
    }
    switch topics {
    case .names(let names):
      for name in names { add(name, through: rooms[name]?.log.trimmedThrough ?? floor) }
    case .matching(let accepts):
      add(nil, through: floor)
      for room in rooms.values where accepts(room.topic) {
        // Otherwise the range without a topic includes it.
        let through = room.log.trimmedThrough
        if through > room.floor { add(room.topic, through: through) }
      }
    }
    told = told.filter { $0.value > number }
    return missing
  }

  /// Reads from the logs of some topics.
  private func read(
    _ rooms: [Room], after number: UInt64, _ limit: Int, _ items: inout RingBuffer<Item>
  ) -> UInt64 {
    var found: [Item] = []
    var isCut = false
    for room in rooms {
      var read = RingBuffer<RetainedLog.Item>()
      _ = room.log.read(after: number, atMost: limit, into: &read)
      isCut = isCut || read.count == limit
      while let item = read.popFirst() {
        found.append(Item(topic: room.topic, number: item.number, envelope: item.envelope))
      }
    }
    if rooms.count > 1 { found.sort { $0.number < $1.number } }
    for item in found.prefix(limit) { items.append(item) }
    guard isCut || found.count > limit else { return newestNumber }
    return found[min(limit, found.count) - 1].number
  }

  /// Reads the events of all topics, and takes those that `accepts` accepts.
  private func scan(
    _ accepts: (String) -> Bool, after number: UInt64, _ limit: Int,
    _ items: inout RingBuffer<Item>
  ) -> UInt64 {
    var offset = firstOffset(after: number)
    var rest = limit
    while offset < order.count {
      let element = order[offset]
      if isKept(element), accepts(element.room.topic),
        let envelope = element.room.log.envelope(element.number)
      {
        items.append(
          Item(topic: element.room.topic, number: element.number, envelope: envelope))
        rest -= 1
        if rest == 0 { return element.number }
      }
      offset += 1
    }
    return newestNumber
  }

  /// The offset in `order` of the first event with a higher number.
  private func firstOffset(after number: UInt64) -> Int {
    var low = 0
    var high = order.count
    while low < high {
      let middle = (low + high) / 2
      if order[middle].number > number { high = middle } else { low = middle + 1 }
    }
    return low
  }

  private func trimmed<R>(_ body: () -> R) -> R {
    var garbage = RetainedLog.Garbage()
    let now = rules.now
    return lock.withLock {
      if let now { trim(now: now, &garbage) }
      return body()
    }
    // The garbage is destroyed here, outside the lock.
  }

  private func isKept(_ element: (number: UInt64, room: Room)) -> Bool {
    element.room.log.oldest.map { $0.number <= element.number } ?? false
  }
}
