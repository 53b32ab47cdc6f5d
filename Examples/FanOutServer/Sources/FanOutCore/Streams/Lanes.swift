internal import NIOCore
internal import Synchronization

/// The lanes of all event loops of a server.
struct Lanes: Sendable {
  private struct Slot: Sendable {
    let lane: NIOLoopBound<Lane>
    let counts: Lane.Counts
    let eventLoop: any EventLoop
  }

  private let slots: [ObjectIdentifier: Slot]

  /// Makes a lane for each event loop of `group`. ``stop()`` ends them.
  init(_ group: any EventLoopGroup, heartbeat: TimeAmount, idle: TimeAmount, linger: TimeAmount)
    async throws
  {
    var slots: [ObjectIdentifier: Slot] = [:]
    for eventLoop in group.makeIterator() {
      let counts = Lane.Counts()
      let lane = try await eventLoop.submit {
        let lane = Lane(eventLoop, linger: linger, counts)
        lane.start(heartbeat: heartbeat, idle: idle)
        return NIOLoopBound(lane, eventLoop: eventLoop)
      }.get()
      slots[ObjectIdentifier(eventLoop)] = Slot(lane: lane, counts: counts, eventLoop: eventLoop)
    }
    self.slots = slots
  }
}

extension Lanes {
  /// What the streams of all lanes have done.
  struct Figures {
    var streams = 0
    var events = 0
    var heartbeats = 0
  }

  var figures: Figures {
    slots.values.reduce(into: Figures()) { figures, slot in
      figures.streams += slot.counts.streams.load(ordering: .relaxed)
      figures.events += slot.counts.events.load(ordering: .relaxed)
      figures.heartbeats += slot.counts.heartbeats.load(ordering: .relaxed)
    }
  }

  /// The lane of `eventLoop`, which is one of the group.
  subscript(eventLoop: any EventLoop) -> NIOLoopBound<Lane> {
    guard let slot = slots[ObjectIdentifier(eventLoop)] else {
      fatalError("\(eventLoop) is not an event loop of this server: start it with its group")
    }
    return slot.lane
  }

  /// Does not linger: streams take what waits for them.
  func hurry() {
    for slot in slots.values {
      slot.eventLoop.execute { slot.lane.value.executor.hurry() }
    }
  }

  /// Closes every connection.
  func closeConnections() {
    for slot in slots.values {
      slot.eventLoop.execute { slot.lane.value.closeConnections() }
    }
  }

  func stop() {
    for slot in slots.values {
      slot.eventLoop.execute { slot.lane.value.stop() }
    }
  }
}
