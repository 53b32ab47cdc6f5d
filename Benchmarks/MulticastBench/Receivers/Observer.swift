/// What the benchmark multicasts: a small event, to small handlers.
protocol Observer: AnyObject, Sendable {
  /// Counts the event in the observer itself.
  func notify(_ event: Int)
  /// Returns the event and writes nothing, so that many threads can call it without sharing a line.
  func answer(_ event: Int) -> Int
  /// The sum of all events since the last call.
  func takeReceived() -> Int
}

/// The same, but not bound to classes: its existential is larger, and may hold a value.
protocol OpenObserver: Sendable {
  func notify(_ event: Int)
}

/// The number of classes of observers.
let observerKinds = 3

/// `kind` is known at run time alone, so no call can be resolved at compile time.
@inline(never)
func makeObserver(_ kind: Int) -> any Observer & OpenObserver {
  switch kind % observerKinds {
  case 0: SumObserver()
  case 1: LastObserver()
  default: PeakObserver()
  }
}

// Sendable, all of them: `notify` and `takeReceived` are called by one thread at a time, the one
// that makes the events or the one that waits for it; `answer` reads what never changes.

private final class SumObserver: Observer, OpenObserver, @unchecked Sendable {
  private var received = 0

  func notify(_ event: Int) { received &+= event }
  func answer(_ event: Int) -> Int { event }

  func takeReceived() -> Int {
    defer { received = 0 }
    return received
  }
}

private final class LastObserver: Observer, OpenObserver, @unchecked Sendable {
  private var received = 0
  private var last = 0
  private let scale = 1

  func notify(_ event: Int) {
    last = event
    received &+= event
  }

  func answer(_ event: Int) -> Int { event &* scale }

  func takeReceived() -> Int {
    defer { received = 0 }
    return received
  }
}

private final class PeakObserver: Observer, OpenObserver, @unchecked Sendable {
  private var received = 0
  private var peak = 0
  private let mask = Int.max

  func notify(_ event: Int) {
    peak = max(peak, event)
    received &+= event
  }

  func answer(_ event: Int) -> Int { event & mask }

  func takeReceived() -> Int {
    defer { received = 0 }
    return received
  }
}
