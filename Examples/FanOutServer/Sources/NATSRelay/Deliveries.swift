#if NATS
  internal import FanOutCore
  internal import Synchronization

  /// The newest event that was delivered, for which a shutdown waits.
  final class Deliveries: Sendable {
    private struct State {
      var last: EventID = 0
      var waiters: [Int: (id: EventID, continuation: CheckedContinuation<Void, Never>)] = [:]
      var waiterCount = 0
    }

    private let state = Mutex(State())
  }

  extension Deliveries {
    /// Records that `id` and all events before it were delivered.
    ///
    /// - Parameter isBeginning: whether ids begin again after it.
    func advance(to id: EventID, isBeginning: Bool = false) {
      let ready = state.withLock { state in
        state.last = isBeginning ? id : max(state.last, id)
        let ready = state.waiters.filter { $0.value.id <= state.last }
        for number in ready.keys { state.waiters[number] = nil }
        return ready.values.map(\.continuation)
      }
      for continuation in ready { continuation.resume() }
    }

    /// Waits until event `id` or a later one is delivered, at most for `limit`.
    ///
    /// - Returns: whether it was delivered.
    @discardableResult
    func reach(_ id: EventID, within limit: Duration) async -> Bool {
      guard id > last, limit > .zero else { return id <= last }
      var timer: Task<Void, Never>?
      await withCheckedContinuation { continuation in
        let number = state.withLock { state -> Int? in
          guard id > state.last else { return nil }
          state.waiterCount += 1
          state.waiters[state.waiterCount] = (id, continuation)
          return state.waiterCount
        }
        guard let number else { return continuation.resume() }
        // Started last, because it resumes a waiter only if that is registered by then.
        timer = Task {
          try? await Task.sleep(for: limit)
          state.withLock { $0.waiters.removeValue(forKey: number) }?.continuation.resume()
        }
      }
      timer?.cancel()
      return id <= last
    }

    private var last: EventID { state.withLock(\.last) }

    /// The number of callers that wait, for tests.
    var waiterCount: Int { state.withLock(\.waiters.count) }
  }
#endif
