internal import Synchronization

/// A delegate that counts its calls and writes its id into a journal for each.
open class RecordingObserver: Observing, Listening, @unchecked Sendable {
  // Sendable: every stored property is a constant of a Sendable type; so it must be in subclasses.
  public let id: Int
  private let journal: Journal?
  private let tracker: LifetimeTracker?
  private let received = Atomic<Int>(0)
  private let poisoned = Atomic<Bool>(false)
  /// Has this value as long as the object lives.
  private let canary = Atomic<UInt64>(RecordingObserver.alive)

  private static var alive: UInt64 { 0x5EED_A11F_E5EE_DA11 }

  public init(_ id: Int = 0, journal: Journal? = nil, tracker: LifetimeTracker? = nil) {
    self.id = id
    self.journal = journal
    self.tracker = tracker
    tracker?.noteCreation()
  }

  deinit {
    canary.store(0, ordering: .relaxed)
    tracker?.noteDestruction()
  }

  /// The number of calls.
  public var calls: Int { received.load(ordering: .sequentiallyConsistent) }

  /// Forbids further calls: the tracker counts those that come.
  public func poison() { poisoned.store(true, ordering: .sequentiallyConsistent) }

  open func receive(_ value: Int) {
    precondition(
      canary.load(ordering: .relaxed) == Self.alive, "a delegate was called after its end")
    if poisoned.load(ordering: .sequentiallyConsistent) { tracker?.noteLateCall() }
    received.add(1, ordering: .sequentiallyConsistent)
    journal?.record(id)
  }
}
