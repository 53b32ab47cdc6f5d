internal import BenchmarkHarness
internal import Dispatch
internal import Multicast

/// Tasks that each consume an asynchronous sequence of events.
enum Consumers {
  /// Consumes each of `sequences` in a task of its own while `send` makes the events.
  ///
  /// - Parameters:
  ///   - system: the system that delivers, for the message if something is missing.
  ///   - events: how many events each consumer must get.
  ///   - send: sends so many events, each of them a one, and then ends the sequences.
  /// - Returns: the nanoseconds for each delivery, from when every task has started until the last
  ///   one has ended.
  static func consume<Events: AsyncSequence & Sendable>(
    _ sequences: [Events], _ system: String, events: Int, send: () -> Void
  ) throws -> [Double] where Events.Element: BenchmarkEvent, Events.Failure == Never {
    try run(sequences, system, events: events, send: send) { events, isReady in
      var iterator = events.makeAsyncIterator()
      isReady()
      var sum = 0
      while let event = await iterator.next(isolation: nil) { sum &+= event.number }
      return sum
    }
  }

  /// As ``consume(_:_:events:send:)``, of sequences of arrays.
  static func consumeBatches<Batches: AsyncSequence & Sendable>(
    _ sequences: [Batches], _ system: String, events: Int, send: () -> Void
  ) throws -> [Double] where Batches.Element == [Tick], Batches.Failure == Never {
    try run(sequences, system, events: events, send: send) { batches, isReady in
      var iterator = batches.makeAsyncIterator()
      isReady()
      var sum = 0
      while let batch = await iterator.next(isolation: nil) {
        for event in batch { sum &+= event.number }
      }
      return sum
    }
  }

  /// As ``consume(_:_:events:send:)``, of events with their positions.
  static func consumePositions(
    _ sequences: [PositionedSequence<Tick>], _ system: String, events: Int, send: () -> Void
  ) throws -> [Double] {
    try run(sequences, system, events: events, send: send) { events, isReady in
      var iterator = events.makeAsyncIterator()
      isReady()
      var sum = 0
      while let element = await iterator.next(isolation: nil) { sum &+= element.event?.number ?? 0 }
      return sum
    }
  }

  /// As ``consumePositions(_:_:events:send:)``, in batches.
  static func consumePositionBatches(
    _ sequences: [PositionedSequence<Tick>.Batches], _ system: String, events: Int, send: () -> Void
  ) throws -> [Double] {
    try run(sequences, system, events: events, send: send) { batches, isReady in
      var iterator = batches.makeAsyncIterator()
      isReady()
      var sum = 0
      while let batch = await iterator.next(isolation: nil) {
        for event in batch.events { sum &+= event.number }
      }
      return sum
    }
  }

  /// - Parameter consume: tells when it is ready, and returns the sum of the events.
  private static func run<Events: Sendable>(
    _ sequences: [Events], _ system: String, events: Int, send: () -> Void,
    consume: @escaping @Sendable (Events, _ isReady: () -> Void) async -> Int
  ) throws -> [Double] {
    let received = Tally()
    let ready = DispatchGroup()
    let ended = DispatchGroup()
    for events in sequences {
      ready.enter()
      ended.enter()
      Task.detached {
        received.add(await consume(events) { ready.leave() })
        ended.leave()
      }
    }
    // Some sequences deliver only what is sent once they are iterated over.
    ready.wait()
    let start = MonotonicClock.nanoseconds
    send()
    ended.wait()
    let elapsed = MonotonicClock.nanoseconds - start
    let expected = events * sequences.count
    try WrongResult.check(system, delivered: received.value, expected: expected)
    return [Double(elapsed) / Double(expected)]
  }
}
