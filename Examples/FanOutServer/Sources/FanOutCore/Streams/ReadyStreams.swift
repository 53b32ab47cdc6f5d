internal import NIOConcurrencyHelpers

/// The streams, and groups of streams, of an event loop that have something to write.
///
/// While an event is delivered, its streams collect here, so that the loop writes to all of them in
/// one turn. The next event, of any topic, waits for no more than that turn; what comes during a
/// turn is written in the next one, so a loop that is busy writes several events of a stream
/// together.
///
/// Any thread may call everything but ``take(into:)``.
final class ReadyStreams: Sendable {
  private struct State {
    var streams: [TurnSignal] = []
    /// The deliveries under way.
    var deliveries = 0
    /// Whether the loop will take the streams, without being woken.
    var isTurnDue = false

    /// Whether the loop must be woken.
    mutating func mustWake() -> Bool {
      guard deliveries == 0, !isTurnDue, !streams.isEmpty else { return false }
      isTurnDue = true
      return true
    }
  }

  private let state = NIOLockedValueBox(State())
  /// Schedules a turn of the event loop.
  let wake: @Sendable () -> Void

  /// - Parameter wake: schedules a turn of the event loop, which calls ``take(into:)``.
  init(_ wake: @escaping @Sendable () -> Void) {
    self.wake = wake
  }
}

extension ReadyStreams {
  func add(_ stream: TurnSignal) {
    let mustWake = state.withLockedValue { state in
      state.streams.append(stream)
      return state.mustWake()
    }
    if mustWake { wake() }
  }

  /// An event is about to be delivered.
  func beginDelivery() {
    state.withLockedValue { $0.deliveries += 1 }
  }

  /// The events of the last ``beginDelivery()`` are in the buffers of all their streams.
  ///
  /// - Returns: whether the caller must begin a turn, or ``wake`` the loop.
  func endDelivery() -> Bool {
    state.withLockedValue { state in
      state.deliveries -= 1
      return state.mustWake()
    }
  }

  /// Moves all streams to the end of `streams`. Call it on the event loop, once for each turn.
  func take(into streams: inout [TurnSignal]) {
    state.withLockedValue { state in
      state.isTurnDue = false
      if streams.isEmpty {
        swap(&streams, &state.streams)
      } else {
        streams += state.streams
        state.streams.removeAll(keepingCapacity: true)
      }
    }
  }
}
