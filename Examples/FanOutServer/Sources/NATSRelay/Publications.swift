#if NATS
  internal import FanOutCore
  internal import Synchronization

  /// Counts the publications that are under way, so that a shutdown can wait for them.
  final class Publications: Sendable {
    private struct State {
      var underWay = 0
      /// The highest id that was acknowledged.
      var last: EventID = 0
      var isFinished = false
      var isGivenUp = false
      /// Goes on when none is under way any more.
      var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())
  }

  extension Publications {
    /// Whether those under way are to end without an answer.
    var isGivenUp: Bool { state.withLock { $0.isGivenUp } }

    /// - Returns: whether another one may begin. Then ``end(_:)`` ends it.
    func begin() -> Bool {
      state.withLock { state in
        guard !state.isFinished else { return false }
        state.underWay += 1
        return true
      }
    }

    /// - Parameter id: of the event, if it was acknowledged.
    func end(_ id: EventID?) {
      let waiter = state.withLock { state in
        state.underWay -= 1
        state.last = max(state.last, id ?? 0)
        return state.underWay == 0 ? state.waiter.take() : nil
      }
      waiter?.resume()
    }

    /// Lets none begin any more, and waits for those under way, but no longer than `limit`: then they
    /// are given up.
    ///
    /// - Returns: the highest id that was acknowledged.
    func finish(within limit: Duration) async -> EventID {
      var timer: Task<Void, Never>?
      await withCheckedContinuation { continuation in
        let isDone = state.withLock { state in
          state.isFinished = true
          if state.underWay > 0 { state.waiter = continuation }
          return state.underWay == 0
        }
        guard !isDone else { return continuation.resume() }
        timer = Task {
          try? await Task.sleep(for: limit)
          giveUp()
        }
      }
      timer?.cancel()
      return state.withLock { $0.last }
    }

    private func giveUp() {
      let waiter = state.withLock { state in
        state.isGivenUp = state.waiter != nil
        return state.waiter.take()
      }
      waiter?.resume()
    }

    /// Ids begin again.
    func forget() { state.withLock { $0.last = 0 } }
  }
#endif
