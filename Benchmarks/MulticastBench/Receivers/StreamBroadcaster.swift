internal import Synchronization

/// An `AsyncStream` for each consumer, and their continuations under a lock: the usual code.
final class StreamBroadcaster<Event: Sendable>: Sendable {
  let streams: [AsyncStream<Event>]
  private let continuations: Mutex<[AsyncStream<Event>.Continuation]>

  init(consumers: Int) {
    let pairs = (0..<consumers).map { _ in AsyncStream.makeStream(of: Event.self) }
    streams = pairs.map(\.stream)
    continuations = Mutex(pairs.map(\.continuation))
  }

  func send(_ event: Event) {
    for continuation in continuations.withLock({ $0 }) { continuation.yield(event) }
  }

  func finish() {
    for continuation in continuations.withLock({ $0 }) { continuation.finish() }
  }
}
