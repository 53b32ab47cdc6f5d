#if NATS
  internal import FanOutCore
  internal import Synchronization

  /// Counts the publications in progress, so that a shutdown can wait for them.
  final class Publications: Sendable {
    private struct State {
      var inProgress = 0
      /// The highest acknowledged id.
      var last: EventID = 0
      var isFinished = false
      var isAbandoned = false
      /// Resumed when no publication is in progress.
      var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())
  }

  extension Publications {
    /// Whether publications in progress must end without a response.
    var isAbandoned: Bool { state.withLock { $0.isAbandoned } }

    /// - Returns: whether a publication may begin; ``end(_:)`` ends it.
    func begin() -> Bool {
      state.withLock { state in
        guard !state.isFinished else { return false }
        state.inProgress += 1
        return true
      }
    }

    /// - Parameter id: the id of the event; `nil` if it was not acknowledged.
    func end(_ id: EventID?) {
      let waiter = state.withLock { state in
        state.inProgress -= 1
        state.last = max(state.last, id ?? 0)
        return state.inProgress == 0 ? state.waiter.take() : nil
      }
      waiter?.resume()
    }

    /// Refuses new publications, and waits for those in progress, at most for `limit`. Then
    /// abandons them.
    ///
    /// - Returns: the highest acknowledged id.
    func finish(within limit: Duration) async -> EventID {
      var timer: Task<Void, Never>?
      await withCheckedContinuation { continuation in
        let isDone = state.withLock { state in
          state.isFinished = true
          if state.inProgress > 0 { state.waiter = continuation }
          return state.inProgress == 0
        }
        guard !isDone else { return continuation.resume() }
        timer = Task {
          try? await Task.sleep(for: limit)
          abandon()
        }
      }
      timer?.cancel()
      return state.withLock { $0.last }
    }

    private func abandon() {
      let waiter = state.withLock { state in
        state.isAbandoned = state.waiter != nil
        return state.waiter.take()
      }
      waiter?.resume()
    }

    /// Forgets the highest id, because ids begin again.
    func forget() { state.withLock { $0.last = 0 } }
  }
#endif
