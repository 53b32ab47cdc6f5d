internal import NIOCore
internal import Synchronization

/// The streams of one event loop, and what they do together: flushing and heartbeats.
///
/// Used on that event loop alone, but for the counts.
final class Lane {
  /// What the streams of a lane have done. Read from anywhere.
  final class Counts: Sendable {
    // Relaxed everywhere: numbers to be looked at. Each lane has its own, so that loops do not
    // contend for them.
    let streams = Atomic<Int>(0)
    let events = Atomic<Int>(0)
    let heartbeats = Atomic<Int>(0)
  }

  /// How many ticks make an interval between heartbeats.
  static let ticksPerInterval = 8

  let eventLoop: any EventLoop
  let counts: Counts
  /// Counts the eighths of an interval: a clock that costs nothing to read.
  private(set) var tick = 0
  private var streams: [StreamOutput] = []
  /// What has written since the last flush.
  private var unflushed: [StreamOutput] = []
  private var timer: RepeatedTask?
  /// For the tasks of the streams.
  let executor: LaneExecutor

  init(_ eventLoop: any EventLoop, linger: TimeAmount, _ counts: Counts) {
    self.eventLoop = eventLoop
    self.counts = counts
    executor = LaneExecutor(eventLoop, linger: linger)
    executor.lane = self
  }
}

extension Lane {
  func startHeartbeats(every interval: TimeAmount) {
    let delay = TimeAmount.nanoseconds(
      max(1, interval.nanoseconds / Int64(Self.ticksPerInterval)))
    let lane = NIOLoopBound(self, eventLoop: eventLoop)
    timer = eventLoop.scheduleRepeatedTask(initialDelay: delay, delay: delay) { _ in
      lane.value.beat()
    }
  }

  /// Ends the heartbeats. Until then they keep the lane alive.
  func stop() {
    timer?.cancel()
    timer = nil
  }

  func add(_ stream: StreamOutput) {
    stream.position = streams.count
    streams.append(stream)
    counts.streams.wrappingAdd(1, ordering: .relaxed)
  }

  func remove(_ stream: StreamOutput) {
    guard let position = stream.position else { return }
    stream.position = nil
    let last = streams.removeLast()
    if last !== stream {
      streams[position] = last
      last.position = position
    }
    counts.streams.wrappingSubtract(1, ordering: .relaxed)
  }

  /// Flushes `stream` when all tasks that can go on now have done so.
  func flushSoon(_ stream: StreamOutput) {
    unflushed.append(stream)
  }

  func flush() {
    guard !unflushed.isEmpty else { return }
    // Flushing may fail and close a connection, and what closes may write to another stream.
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

  /// Closes every connection that still has a stream.
  func closeStreams() {
    for stream in streams { stream.closeConnection() }
  }

  private func beat() {
    tick += 1
    for stream in streams where stream.beat() {
      counts.heartbeats.wrappingAdd(1, ordering: .relaxed)
    }
    flush()
  }
}
