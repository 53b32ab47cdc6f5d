internal import Multicast
internal import NIOCore
internal import Synchronization

/// The connections and streams of one event loop: writes to streams in turns, sends heartbeats, and
/// closes connections that time out.
///
/// Not thread-safe: all but the counts belong to the event loop.
final class ConnectionLoop {
  /// Counts of the streams of a loop. Any thread may read them.
  final class Counts: Sendable {
    // Relaxed everywhere: statistics that order nothing. One set per loop, so that loops do not
    // contend for cache lines.
    let streams = Atomic<Int>(0)
    let events = Atomic<Int>(0)
    let writes = Atomic<Int>(0)
    let heartbeats = Atomic<Int>(0)
  }

  /// Ticks per heartbeat interval.
  static let ticksPerInterval = 8
  /// The pause in which the loop serves its sockets. It runs all tasks that are due before, so this
  /// is not zero.
  private static let timeForSockets = TimeAmount.microseconds(100)

  let eventLoop: any EventLoop
  let counts: Counts
  /// The interval between heartbeats.
  private(set) var heartbeat = TimeAmount.zero
  /// How long a client must send nothing before a shutdown closes its connection.
  private(set) var quietTime = TimeAmount.zero
  /// The shortest pause between two turns.
  private var shortestPause = TimeAmount.zero
  /// Counts ticks: a clock that costs nothing to read.
  private(set) var tick = 0
  /// The frames of events for streams of several topics.
  var topicFrames = TopicFrames()
  private var connections = IndexedList<Connection>(\.listIndex)
  private var secureConnections = IndexedList<SecureConnection>(\.listIndex)
  private var streams = IndexedList<EventStream>(\.listIndex)
  /// By topic, the streams that are up to date.
  private var groups: [String: StreamGroup] = [:]
  private var timers: [RepeatedTask] = []
  /// Keeps this object alive until ``stop()``.
  private let this: NIOLoopBoundBox<ConnectionLoop?>
  /// Streams and groups that have something to write.
  let ready: ReadyStreams
  /// Those of the current turn, up to `last`, and behind them those of the next one.
  private var turn: [TurnSignal] = []
  private var next = 0
  private var last = 0
  /// Counts turns.
  private(set) var turnNumber = 0
  private var turnStart = NIODeadline.uptimeNanoseconds(0)
  /// What was written since the last turn ended.
  private var written = TurnLoad.Written()
  private var load = TurnLoad()
  /// When the next turn may begin.
  private var nextStart = NIODeadline.uptimeNanoseconds(0)
  /// Whether the rest of the turn, or the next turn, is scheduled.
  private var isScheduled = false
  /// The next turn, while it waits for the end of a pause.
  private var pausing: Scheduled<Void>?
  /// Whether a turn writes to streams now.
  private var isInTurn = false

  init(_ eventLoop: any EventLoop, _ counts: Counts) {
    self.eventLoop = eventLoop
    self.counts = counts
    let this = NIOLoopBoundBox<ConnectionLoop?>(nil, eventLoop: eventLoop)
    self.this = this
    ready = ReadyStreams {
      eventLoop.execute { this.value?.beginTurn() }
    }
    this.value = self
  }
}

extension ConnectionLoop {
  /// Starts the timers.
  ///
  /// - Parameters:
  ///   - idle: how long a connection may wait for its client.
  ///   - pause: the shortest one between two turns.
  ///   - quietTime: as of ``Settings``.
  func start(
    heartbeat: TimeAmount, idle: TimeAmount, pause: TimeAmount, quietTime: TimeAmount
  ) {
    self.heartbeat = heartbeat
    self.quietTime = quietTime
    shortestPause = pause
    everyTick(of: heartbeat) { $0.advanceTick() }
    everyTick(of: idle) { $0.closeTimedOutConnections(idle) }
  }

  private func everyTick(
    of interval: TimeAmount, _ action: @escaping @Sendable (ConnectionLoop) -> Void
  ) {
    let delay = TimeAmount.nanoseconds(
      max(1, interval.nanoseconds / Int64(Self.ticksPerInterval)))
    let loop = NIOLoopBound(self, eventLoop: eventLoop)
    timers.append(
      eventLoop.scheduleRepeatedTask(initialDelay: delay, delay: delay) { _ in action(loop.value) })
  }

  /// Cancels the timers, and ends the turns.
  func stop() {
    for timer in timers { timer.cancel() }
    timers = []
    this.value = nil
  }

  func add(_ connection: Connection) { connections.add(connection) }

  func remove(_ connection: Connection) { connections.remove(connection) }

  func add(_ connection: SecureConnection) { secureConnections.add(connection) }

  func remove(_ connection: SecureConnection) { secureConnections.remove(connection) }

  func add(_ stream: EventStream) {
    streams.add(stream)
    counts.streams.wrappingAdd(1, ordering: .relaxed)
  }

  func remove(_ stream: EventStream) {
    guard streams.remove(stream) else { return }
    counts.streams.wrappingSubtract(1, ordering: .relaxed)
  }

  /// The group of the streams of `topic` that are up to date, if a stream that has everything up to
  /// `position` may join it. Created if there is none.
  func group(of topic: Topic, _ topics: Topics, after position: EventPosition) -> StreamGroup? {
    if let group = groups[topic.name] { return group.accepts(position) ? group : nil }
    let group = StreamGroup(topic, of: topics, after: position, self)
    groups[topic.name] = group
    return group
  }

  /// Removes a group that has no members.
  func remove(_ group: StreamGroup, of topic: Topic) {
    if groups[topic.name] === group { groups[topic.name] = nil }
  }

  /// Counts events, each once for each stream, and in how many writes to streams they were.
  func count(events: Int, writes: Int) {
    guard events > 0 else { return }
    written.events += events
    written.writes += writes
    counts.writes.wrappingAdd(writes, ordering: .relaxed)
    // Who reads these events reads their writes too.
    counts.events.wrappingAdd(events, ordering: .releasing)
  }

  /// Begins a turn, without waiting until the loop has served its sockets. Inside a turn, schedules
  /// one.
  func beginTurnAtOnce() {
    if isInTurn { ready.wake() } else { beginTurn() }
  }

  private func beginTurn() {
    isInTurn = true
    defer { isInTurn = false }
    let known = turn.count
    ready.take(into: &turn)
    guard !isScheduled else {
      writeQuiet(from: known)
      return
    }
    let now = NIODeadline.now()
    guard now >= nextStart else {
      let isDone = writeQuiet(from: known)
      let end = NIODeadline.now()
      load.add(end - now, takeWritten(), until: end)
      // A quiet group that has more to write than at once ends the pause. The loop serves its
      // sockets in any case before it writes again.
      nextStart = max(isDone ? nextStart : end, end + Self.timeForSockets)
      beginTurnAfterPause(from: end)
      return
    }
    turnNumber += 1
    turnStart = now
    last = turn.count
    continueTurn()
  }

  /// Begins the next turn after the pause, if something waits for it.
  private func beginTurnAfterPause(from now: NIODeadline) {
    guard !turn.isEmpty else { return }
    pausing = schedule(in: nextStart - now) { loop in
      loop.pausing = nil
      loop.beginTurn()
    }
  }

  private func takeWritten() -> TurnLoad.Written {
    defer { written = TurnLoad.Written() }
    return written
  }

  /// Writes to those members that the last turn has not written to: they wait for no pause. Writes
  /// no more than a turn does at once.
  ///
  /// - Returns: whether they are done.
  @discardableResult
  private func writeQuiet(from first: Int) -> Bool {
    var isDone = true
    var busy = first
    var budget = TurnBudget()
    for index in first..<turn.count {
      let signal = turn[index]
      if let member = signal.member, member.lastTurn != turnNumber {
        if !budget.isSpent && member.writePending(&budget) { continue }
        isDone = false
      }
      turn[busy] = signal
      busy += 1
    }
    turn.removeLast(turn.count - busy)
    return isDone
  }

  private func continueTurn() {
    isInTurn = true
    defer { isInTurn = false }
    var budget = TurnBudget()
    while next < last, !budget.isSpent {
      if turn[next].member?.writePending(&budget) ?? true { next += 1 }
    }
    guard next == last else {
      schedule(in: Self.timeForSockets) { $0.continueTurn() }
      return
    }
    if last == turn.count {
      turn.removeAll(keepingCapacity: turn.count <= 16_384)
    } else {
      turn.removeFirst(last)
    }
    (next, last) = (0, 0)
    let end = NIODeadline.now()
    load.add(end - turnStart, takeWritten(), until: end)
    let pause = load.pause(after: end - turnStart)
    nextStart = end + max(shortestPause, pause, Self.timeForSockets)
    beginTurnAfterPause(from: end)
  }

  @discardableResult
  private func schedule(
    in pause: TimeAmount, _ action: @escaping @Sendable (ConnectionLoop) -> Void
  ) -> Scheduled<Void> {
    isScheduled = true
    // Checks that this is the event loop: so the closure need not be Sendable.
    return eventLoop.assumeIsolated().scheduleTask(in: pause) {
      self.isScheduled = false
      action(self)
    }
  }

  /// Ends the pause between two turns, and makes no long ones any more: the server shuts down.
  func endPauses() {
    shortestPause = .zero
    nextStart = .now()
    guard let pausing else { return }
    pausing.cancel()
    self.pausing = nil
    isScheduled = false
    beginTurn()
  }

  /// Ends the streams that wait for events of the log, after those that they have.
  func endWaitingStreams() {
    for stream in streams { stream.endIfWaiting() }
  }

  /// Closes every connection.
  func closeConnections() {
    for connection in connections { connection.close() }
    for connection in secureConnections { connection.close() }
  }

  private func closeTimedOutConnections(_ idle: TimeAmount) {
    let deadline = NIODeadline.now() - idle
    for connection in connections { connection.closeIfTimedOut(since: deadline) }
    for connection in secureConnections { connection.closeIfTimedOut(since: deadline) }
  }

  private func advanceTick() {
    tick += 1
    for stream in streams where stream.handleTick() {
      counts.heartbeats.wrappingAdd(1, ordering: .relaxed)
    }
    // Every second heartbeat. With the shortest one, 0.1 s, these are 150 in 30 s: NIO closes a
    // connection with more than 200 answers.
    guard tick % (2 * Self.ticksPerInterval) == 0 else { return }
    for connection in secureConnections { connection.sendPing() }
  }
}
