internal import Synchronization

/// What one writes by hand: a continuation and what waits for it, under a lock.
final class HandOver: AsyncSequence, Sendable {
  typealias Element = Tick
  typealias Failure = Never

  private struct State {
    var consumer: CheckedContinuation<Tick?, Never>?
    /// In order; `nil` is the end.
    var waiting: [Tick?] = []
  }

  private let state = Mutex(State())

  /// - Parameter event: `nil` is the end.
  func send(_ event: Tick?) {
    let consumer = state.withLock { state -> CheckedContinuation<Tick?, Never>? in
      guard let consumer = state.consumer.take() else {
        state.waiting.append(event)
        return nil
      }
      return consumer
    }
    consumer?.resume(returning: event)
  }

  func makeAsyncIterator() -> Iterator { Iterator(handOver: self) }

  struct Iterator: AsyncIteratorProtocol {
    let handOver: HandOver

    func next() async -> Tick? { await next(isolation: #isolation) }

    func next(isolation: isolated (any Actor)?) async -> Tick? {
      await withCheckedContinuation { consumer in
        let event = handOver.state.withLock { state -> Tick?? in
          guard state.waiting.isEmpty else { return .some(state.waiting.removeFirst()) }
          state.consumer = consumer
          return nil
        }
        if let event { consumer.resume(returning: event) }
      }
    }
  }
}
