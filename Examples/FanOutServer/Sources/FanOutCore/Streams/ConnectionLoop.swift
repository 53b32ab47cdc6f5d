internal import NIOCore
internal import Synchronization

/// The connections and streams of one event loop: flushes streams together, sends heartbeats, and
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
    let heartbeats = Atomic<Int>(0)
  }

  /// Ticks per heartbeat interval.
  static let ticksPerInterval = 8

  let eventLoop: any EventLoop
  let counts: Counts
  /// The interval between heartbeats.
  private(set) var heartbeat = TimeAmount.zero
  /// Counts ticks: a clock that costs nothing to read.
  private(set) var tick = 0
  private var connections = IndexedList<Connection>()
  private var streams = IndexedList<StreamOutput>()
  /// Streams with writes since the last flush.
  private var unflushed: [StreamOutput] = []
  private var timers: [RepeatedTask] = []
  /// Runs the tasks of the streams.
  let executor: BatchingExecutor

  init(_ eventLoop: any EventLoop, linger: TimeAmount, _ counts: Counts) {
    self.eventLoop = eventLoop
    self.counts = counts
    executor = BatchingExecutor(eventLoop, linger: linger)
    executor.loop = self
  }
}

extension ConnectionLoop {
  /// Starts the timers.
  ///
  /// - Parameter idle: how long a connection may wait for its client.
  func start(heartbeat: TimeAmount, idle: TimeAmount) {
    self.heartbeat = heartbeat
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

  /// Cancels the timers, which keep this object alive.
  func stop() {
    for timer in timers { timer.cancel() }
    timers = []
  }

  func add(_ connection: Connection) { connections.add(connection) }

  func remove(_ connection: Connection) { connections.remove(connection) }

  func add(_ stream: StreamOutput) {
    streams.add(stream)
    counts.streams.wrappingAdd(1, ordering: .relaxed)
  }

  func remove(_ stream: StreamOutput) {
    guard streams.remove(stream) else { return }
    counts.streams.wrappingSubtract(1, ordering: .relaxed)
  }

  /// Flushes `stream` after the current batch of tasks.
  func flushSoon(_ stream: StreamOutput) {
    unflushed.append(stream)
  }

  func flush() {
    guard !unflushed.isEmpty else { return }
    // A flush may fail and close a connection, and closing may write to another stream.
    var due: [StreamOutput] = []
    swap(&due, &unflushed)
    for stream in due { stream.flush() }
    guard unflushed.isEmpty else { return flush() }
    due.removeAll(keepingCapacity: due.count <= 16_384)
    unflushed = due
  }

  func countEvent() {
    counts.events.wrappingAdd(1, ordering: .relaxed)
  }

  /// Closes every connection.
  func closeConnections() {
    for connection in connections { connection.close() }
  }

  private func closeTimedOutConnections(_ idle: TimeAmount) {
    let deadline = NIODeadline.now() - idle
    for connection in connections { connection.closeIfTimedOut(since: deadline) }
  }

  private func advanceTick() {
    tick += 1
    for stream in streams where stream.handleTick() {
      counts.heartbeats.wrappingAdd(1, ordering: .relaxed)
    }
    flush()
  }
}
