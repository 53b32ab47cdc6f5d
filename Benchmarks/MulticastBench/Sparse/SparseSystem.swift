internal import BenchmarkHarness
internal import Multicast

/// A way to send events to one consumer.
struct SparseSystem {
  let name: String
  /// Whether the others are compared with this one.
  var isBaseline = false
  let make: () -> Running

  /// One sender and its consumer.
  struct Running {
    /// Receives until the end.
    let consume: @Sendable (Arrivals) async -> Void
    let send: (Tick) -> Void
    let finish: () -> Void
  }

  static var all: [SparseSystem] {
    [
      SparseSystem(name: "AsyncStream", isBaseline: true) {
        let (stream, continuation) = AsyncStream.makeStream(of: Tick.self)
        return Running(
          consume: { await receiveAll(of: stream, $0) },
          send: { continuation.yield($0) }, finish: { continuation.finish() })
      },
      SparseSystem(name: "bare continuation") {
        let handOver = HandOver()
        return Running(
          consume: { await receiveAll(of: handOver, $0) },
          send: { handOver.send($0) }, finish: { handOver.send(nil) })
      },
      SparseSystem(name: "EventHub") {
        let hub = EventHub<Tick>()
        let events = hub.events()
        return Running(
          consume: { await receiveAll(of: events, $0) },
          send: { hub.send($0) }, finish: { hub.finish() })
      },
      SparseSystem(name: "EventHub, batches") {
        let hub = EventHub<Tick>()
        let batches = hub.events().batches(upTo: 256)
        return Running(
          consume: { arrivals in
            let iterator = batches.makeAsyncIterator()
            while let batch = await iterator.next(isolation: nil) {
              for event in batch { arrivals.add(event.number) }
            }
          }, send: { hub.send($0) }, finish: { hub.finish() })
      },
    ]
  }
}

private func receiveAll<Events: AsyncSequence>(
  of events: Events, _ arrivals: Arrivals
) async where Events.Element == Tick, Events.Failure == Never {
  var iterator = events.makeAsyncIterator()
  while let event = await iterator.next(isolation: nil) { arrivals.add(event.number) }
}
