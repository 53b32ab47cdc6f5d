internal import BenchmarkHarness
internal import Dispatch

/// Tasks that each consume an asynchronous sequence of events.
enum Consumers {
  /// Consumes each of `sequences` in a task of its own while `send` makes the events.
  ///
  /// - Parameters:
  ///   - system: who delivers, for the message if something is missing.
  ///   - events: how many events each consumer must get.
  ///   - send: sends so many events, each of them a one, and then ends the sequences.
  /// - Returns: the nanoseconds for each delivery, from the first task until the last one has ended.
  static func consume<Events: AsyncSequence & Sendable>(
    _ sequences: [Events], _ system: String, events: Int, send: () -> Void
  ) throws -> [Double] where Events.Element == Int, Events.Failure == Never {
    let received = Tally()
    let group = DispatchGroup()
    let start = MonotonicClock.nanoseconds
    for events in sequences {
      group.enter()
      Task.detached {
        var sum = 0
        for await event in events { sum &+= event }
        received.add(sum)
        group.leave()
      }
    }
    send()
    group.wait()
    let elapsed = MonotonicClock.nanoseconds - start
    let expected = events * sequences.count
    try WrongResult.check(system, delivered: received.value, expected: expected)
    return [Double(elapsed) / Double(expected)]
  }
}
