internal import NIOCore
internal import Synchronization

/// The ``ConnectionLoop`` of each event loop of a server.
struct ConnectionLoops: Sendable {
  /// A class, so that a copy retains one object, not each member.
  private final class Slot: Sendable {
    let loop: NIOLoopBound<ConnectionLoop>
    let counts: ConnectionLoop.Counts
    let ready: ReadyStreams
    let eventLoop: any EventLoop
    let executor: EventLoopExecutor

    init(
      _ loop: NIOLoopBound<ConnectionLoop>, _ counts: ConnectionLoop.Counts,
      _ ready: ReadyStreams, _ eventLoop: any EventLoop
    ) {
      self.loop = loop
      self.counts = counts
      self.ready = ready
      self.eventLoop = eventLoop
      executor = EventLoopExecutor(eventLoop)
    }
  }

  private let slots: [ObjectIdentifier: Slot]

  /// Creates one for each event loop of `group`, and starts its timers. ``stop()`` cancels them.
  init(
    _ group: any EventLoopGroup, heartbeat: TimeAmount, idle: TimeAmount, pause: TimeAmount = .zero,
    quietTime: TimeAmount = .zero
  ) async throws {
    var slots: [ObjectIdentifier: Slot] = [:]
    for eventLoop in group.makeIterator() {
      let counts = ConnectionLoop.Counts()
      let (loop, ready) = try await eventLoop.submit {
        let loop = ConnectionLoop(eventLoop, counts)
        loop.start(heartbeat: heartbeat, idle: idle, pause: pause, quietTime: quietTime)
        return (NIOLoopBound(loop, eventLoop: eventLoop), loop.ready)
      }.get()
      slots[ObjectIdentifier(eventLoop)] = Slot(loop, counts, ready, eventLoop)
    }
    self.slots = slots
  }
}

extension ConnectionLoops {
  /// Totals over all event loops.
  struct Statistics {
    var streams = 0
    var events = 0
    var writes = 0
    var heartbeats = 0
  }

  var statistics: Statistics {
    slots.values.reduce(into: Statistics()) { statistics, slot in
      statistics.streams += slot.counts.streams.load(ordering: .relaxed)
      // With the writes of these events, which are counted before them.
      statistics.events += slot.counts.events.load(ordering: .acquiring)
      statistics.writes += slot.counts.writes.load(ordering: .relaxed)
      statistics.heartbeats += slot.counts.heartbeats.load(ordering: .relaxed)
    }
  }

  /// - Precondition: `eventLoop` belongs to the group of this object.
  subscript(eventLoop: any EventLoop) -> NIOLoopBound<ConnectionLoop> { slot(eventLoop).loop }

  /// Runs the tasks of connections on their event loop.
  ///
  /// - Precondition: `eventLoop` belongs to the group of this object.
  func executor(of eventLoop: any EventLoop) -> EventLoopExecutor { slot(eventLoop).executor }

  private func slot(_ eventLoop: any EventLoop) -> Slot {
    guard let slot = slots[ObjectIdentifier(eventLoop)] else {
      fatalError("\(eventLoop) is not an event loop of this server: start it with its group")
    }
    return slot
  }

  /// Delivers events: no loop writes them to a stream before all their streams have them. While one
  /// delivery overlaps the next, no loop begins a turn: so there should be one at a time.
  ///
  /// - Returns: begins the turns that write them, outside of locks. On the thread of a loop, that
  ///   loop begins its turn at once: it may have other sockets to serve first otherwise.
  func deliver(_ body: () -> Void) -> () -> Void {
    for slot in slots.values { slot.ready.beginDelivery() }
    body()
    var own: Slot?
    var others: [Slot] = []
    for slot in slots.values where slot.ready.endDelivery() {
      if slot.eventLoop.inEventLoop { own = slot } else { others.append(slot) }
    }
    return { [own, others] in
      for slot in others { slot.ready.wake() }
      own?.loop.value.beginTurnAtOnce()
    }
  }

  /// Writes to streams without long pauses.
  func endPauses() {
    for slot in slots.values {
      slot.eventLoop.execute { slot.loop.value.endPauses() }
    }
  }

  /// Ends the streams that wait for events of the log, after those that they have.
  func endWaitingStreams() {
    for slot in slots.values {
      slot.eventLoop.execute { slot.loop.value.endWaitingStreams() }
    }
  }

  /// Closes every connection.
  func closeConnections() {
    for slot in slots.values {
      slot.eventLoop.execute { slot.loop.value.closeConnections() }
    }
  }

  func stop() {
    for slot in slots.values {
      slot.eventLoop.execute { slot.loop.value.stop() }
    }
  }
}
