internal import Synchronization

/// Stops a thread.
final class StopFlag: Sendable {
  private let value = Atomic(false)

  // Relaxed: nothing else is passed with it.
  func set() { value.store(true, ordering: .relaxed) }

  var isSet: Bool { value.load(ordering: .relaxed) }
}
