internal import NIOCore
internal import Synchronization

/// The lanes of all event loops of a server.
struct Lanes: Sendable {
  private struct Place: Sendable {
    let lane: NIOLoopBound<Lane>
    let counts: Lane.Counts
    let eventLoop: any EventLoop
  }

  private let places: [ObjectIdentifier: Place]

  /// Makes a lane for each event loop of `group`. ``stop()`` ends them.
  init(_ group: any EventLoopGroup, heartbeat: TimeAmount, idle: TimeAmount, linger: TimeAmount)
    async throws
  {
    var places: [ObjectIdentifier: Place] = [:]
    for eventLoop in group.makeIterator() {
      let counts = Lane.Counts()
      let lane = try await eventLoop.submit {
        let lane = Lane(eventLoop, linger: linger, counts)
        lane.start(heartbeat: heartbeat, idle: idle)
        return NIOLoopBound(lane, eventLoop: eventLoop)
      }.get()
      places[ObjectIdentifier(eventLoop)] = Place(lane: lane, counts: counts, eventLoop: eventLoop)
    }
    self.places = places
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
    places.values.reduce(into: Figures()) { figures, place in
      figures.streams += place.counts.streams.load(ordering: .relaxed)
      figures.events += place.counts.events.load(ordering: .relaxed)
      figures.heartbeats += place.counts.heartbeats.load(ordering: .relaxed)
    }
  }

  /// The lane of `eventLoop`, which is one of the group.
  subscript(eventLoop: any EventLoop) -> NIOLoopBound<Lane> {
    guard let place = places[ObjectIdentifier(eventLoop)] else {
      fatalError("\(eventLoop) is not an event loop of this server: start it with its group")
    }
    return place.lane
  }

  /// Does not linger: streams take what waits for them.
  func hurry() {
    for place in places.values {
      place.eventLoop.execute { place.lane.value.executor.hurry() }
    }
  }

  /// Closes every connection.
  func closeConnections() {
    for place in places.values {
      place.eventLoop.execute { place.lane.value.closeConnections() }
    }
  }

  func stop() {
    for place in places.values {
      place.eventLoop.execute { place.lane.value.stop() }
    }
  }
}
