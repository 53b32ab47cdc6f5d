internal import FanOutCore
internal import NIOCore
internal import Synchronization

/// The publications that wait to be stored. Those that arrive while others are being stored are
/// stored together in the next transaction.
final class Publications: Sendable {
  /// Events that are to be stored in one transaction.
  struct Batch {
    var events: [Publication]
    /// Gets the result.
    var continuation: CheckedContinuation<Result<[Receipt], Unavailable>, Never>
  }

  /// What new publications need.
  enum Admission {
    /// Nothing: the writing thread takes it.
    case waits
    /// The writing thread must start.
    case starts
    /// The server shuts down.
    case refused
  }

  private struct State {
    var waiting: [Batch] = []
    /// Whether the writing thread is running, or will run.
    var isWriting = false
    var isFinished = false
    /// Whether a drain has reached its time limit.
    var isAbandoned = false
    /// Resumed when nothing waits.
    var drains: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())
}

extension Publications {
  func add(_ batch: Batch) -> Admission {
    state.withLock { state in
      guard !state.isFinished else { return .refused }
      state.waiting.append(batch)
      guard !state.isWriting else { return .waits }
      state.isWriting = true
      return .starts
    }
  }

  /// The next publications for one transaction. If there are none, the writing thread ends.
  ///
  /// - Parameters:
  ///   - events: the last batch begins below this number.
  ///   - bytes: the last batch begins below this number.
  func take(events: Int, bytes: Int) -> [Batch] {
    let (batches, drains): ([Batch], [CheckedContinuation<Void, Never>])
    (batches, drains) = state.withLock { state in
      var (size, number) = (0, 0)
      let count = state.waiting.prefix { batch in
        defer {
          size += batch.events.reduce(0) { $0 + $1.message.data.readableBytes }
          number += batch.events.count
        }
        return size < bytes && number < events
      }.count
      let batches = Array(state.waiting.prefix(count))
      state.waiting.removeFirst(count)
      guard batches.isEmpty else { return (batches, []) }
      state.isWriting = false
      defer { state.drains = [] }
      return (batches, state.drains)
    }
    for drain in drains { drain.resume() }
    return batches
  }

  /// Refuses further publications, and waits until the others are stored, at most for `limit`.
  func finish(within limit: Duration) async {
    let timer = Task {
      guard (try? await Task.sleep(for: limit)) != nil else { return }
      abandon()
    }
    await withCheckedContinuation { continuation in
      let isDone = state.withLock { state in
        state.isFinished = true
        guard state.isWriting, !state.isAbandoned else { return true }
        state.drains.append(continuation)
        return false
      }
      if isDone { continuation.resume() }
    }
    timer.cancel()
  }

  private func abandon() {
    let drains = state.withLock { state in
      state.isAbandoned = true
      defer { state.drains = [] }
      return state.drains
    }
    for drain in drains { drain.resume() }
  }
}
