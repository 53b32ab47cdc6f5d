internal import Synchronization

/// Tells the owner of a reader that there is something to read: once, after the reader has found
/// nothing more.
///
/// ```
///   pending ──beginReading──▶ reading ──beginWaiting──▶ waiting
///      ▲                         │                         │
///      ├───────signal, end───────┘                         │
///      └───────signal, end: the owner is told──────────────┘
/// ```
///
/// ## Thread safety
/// ``signal()`` and ``end(_:)`` may be called from any thread, the rest from that of the reader
/// alone.
final class ReadNotice: ReadTarget {
  /// There may be something to read; the owner is not told of more.
  private static var pending: Int { 2 }
  /// The reader has read, or is reading, and nothing has come since it began.
  private static var reading: Int { 1 }
  /// The owner waits to be told.
  private static var waiting: Int { 0 }

  private let notify: @Sendable () -> Void
  // The owner reads before it is told for the first time.
  private let state = Atomic<Int>(ReadNotice.pending)
  /// The number of the reason; -1: there is none.
  private let reason = Atomic<Int>(-1)

  init(_ notify: @escaping @Sendable () -> Void) {
    self.notify = notify
  }

  /// Called after what there is to read was stored inside a lock that the reader takes.
  func signal() {
    // Relaxed, and no exchange if it is pending already: if the reader takes the lock after this
    // thread, it finds what was stored; if before, this thread sees that the reader has begun.
    guard state.load(ordering: .relaxed) != Self.pending else { return }
    if state.exchange(Self.pending, ordering: .relaxed) == Self.waiting { notify() }
  }

  func end(_ reason: SubscriptionEnd, _ failure: (any Error)? = nil) {
    let number =
      switch reason {
      case .cancelled: 0
      case .finished: 1
      case .disconnected: 2
      }
    // Relaxed: the next exchange publishes it.
    guard self.reason.compareExchange(expected: -1, desired: number, ordering: .relaxed).exchanged
    else { return }
    // Always an exchange, because no lock is there: the reader acquires the reason with it, or
    // finds that it must not wait.
    if state.exchange(Self.pending, ordering: .releasing) == Self.waiting { notify() }
  }

  /// Why no more follows. For the reader: what it knows after ``beginReading()``.
  var end: SubscriptionEnd? {
    // Relaxed: `beginReading` acquires it, and the lock of the log what came before it.
    let number = reason.load(ordering: .relaxed)
    return switch number {
    case 0: .cancelled
    case 1: .finished
    case 2: .disconnected
    default: nil
    }
  }

  /// The reader is about to read.
  func beginReading() {
    // Acquiring: see `end`.
    _ = state.exchange(Self.reading, ordering: .acquiring)
  }

  /// The reader has found nothing more.
  ///
  /// - Returns: whether the owner will be told of what comes; `false`: something has come since
  ///   ``beginReading()``, which must be called again.
  func beginWaiting() -> Bool {
    // Relaxed: it finds what `signal` or `end` has stored, or they find this.
    state.compareExchange(expected: Self.reading, desired: Self.waiting, ordering: .relaxed)
      .exchanged
  }

  /// The owner is told nothing any more.
  func silence() {
    // Relaxed: a call that has begun may still tell it.
    state.store(Self.pending, ordering: .relaxed)
  }
}
