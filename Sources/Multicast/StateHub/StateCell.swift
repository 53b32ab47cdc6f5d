// The state of a hub, between the thread that folds a change into it and those that read it.
//
//     deliverer ──take──▶ (cell empty) ──reducer──▶ put back, next version
//     reader    ──copy, or sleep until the state is back and get a copy──▶
//
// The reducer is user code, so it runs outside the lock. It owns the only reference to the state,
// so a change in place copies nothing unless a subscriber still has a snapshot.

internal import Dispatch

/// The state of a hub, and its version: the number of the last change in it.
///
/// ## Thread safety
/// Any thread may read. One thread at a time folds: the one that delivers.
@usableFromInline
final class StateCell<State: Sendable>: @unchecked Sendable {
  // Sendable: everything that changes is accessed inside `lock` alone.

  typealias Snapshot = (state: State, version: UInt64)

  /// A reader that sleeps. It gets the state from the thread that wakes it. If it read the state
  /// itself after it woke, another thread could be folding the next change by then.
  private final class Sleeper {
    let semaphore = DispatchSemaphore(value: 0)
    /// Inside the lock.
    var snapshot: Snapshot?
  }

  /// Guards the state. No user code runs inside; copying a state retains it.
  private let lock = Lock()
  /// `nil` while a thread folds.
  private var state: State?
  private var version: UInt64 = 0
  /// The thread that folds.
  private var folder: UnsafeRawPointer?
  /// Readers that sleep until the state is back.
  private var sleepers: [Sleeper] = []
  private let name: String?

  @usableFromInline
  init(_ state: State, name: String?) {
    self.state = state
    self.name = name
  }

  /// A copy of the state, with its version. While a thread folds, the caller sleeps until that
  /// change is in the state.
  ///
  /// - Precondition: the caller is not the thread that folds.
  func snapshot() -> Snapshot {
    let (snapshot, sleeper) = lock.withLock { () -> (Snapshot?, Sleeper?) in
      if let state { return ((state, version), nil) }
      guard folder != ThreadCallStack.thisThread else { return (nil, nil) }
      let sleeper = Sleeper()
      sleepers.append(sleeper)
      return (nil, sleeper)
    }
    if let snapshot { return snapshot }
    require(
      sleeper != nil,
      """
      \(messagePrefix(name)) the state was read inside the reducer of its hub; use the state that \
      the reducer gets.
      """)
    sleeper?.semaphore.wait()
    // The thread that woke this one has set it.
    return lock.withLock { sleeper?.snapshot.take() }!
  }

  /// The number of readers that sleep, for tests.
  var sleeperCount: Int { lock.withLock { sleepers.count } }

  /// Folds the change with the number `version` into the state.
  ///
  /// - Parameter change: user code. Other threads sleep if they read the state meanwhile.
  @usableFromInline
  func fold(_ version: UInt64, _ change: (inout State) -> Void) {
    // One variable throughout: a copy would be a second reference.
    var taken = lock.withLock {
      folder = ThreadCallStack.thisThread
      return state.take()
    }
    require(taken != nil, "\(messagePrefix(name)) two threads fold a change")
    change(&taken!)
    let woken = lock.withLock {
      state = taken.take()
      self.version = version
      folder = nil
      let woken = sleepers
      if !woken.isEmpty { sleepers = [] }
      for sleeper in woken { sleeper.snapshot = state.map { ($0, self.version) } }
      return woken
    }
    for sleeper in woken { sleeper.semaphore.signal() }
  }
}
