#if canImport(Glibc) && !MULTICAST_PORTABLE_WEAK

  import Dispatch
  import Glibc
  import Multicast
  import MulticastTestSupport
  import Synchronization
  import Testing

  @Suite("Neither who reads whether a weak delegate is alive nor a sender becomes its last owner")
  struct LastOwnerLaws {
    @Test("isActive and prune, against the last release", arguments: [false, true])
    func readersNeverDestroy(hasSideTable: Bool) {
      let tracker = LifetimeTracker()
      let elsewhere = Counter()
      let (rounds, count) = (100, 1_000)
      let outcomes = race(
        rounds: rounds,
        setUp: { Delegates(count, hasSideTable: hasSideTable, tracker, elsewhere) },
        actors: [
          { $0.drop() },
          { state in for registration in state.registrations { _ = registration.isActive } },
          { state in for _ in 0..<20 { state.hub.prune() } },
        ],
        outcome: { state in
          state.hub.prune()
          return state.hub.isEmpty && !state.registrations.contains { $0.isActive }
        })
      #expect(outcomes == [true: rounds])
      #expect(elsewhere.value == 0, "a reader has run a deinit")
      #expect(tracker.created == rounds * count)
      #expect(tracker.live == 0)
    }

    @Test("calls that wait for the actor of a delegate, against the last release")
    func sendersNeverDestroy() {
      let tracker = LifetimeTracker()
      let elsewhere = Counter()
      let (rounds, count) = (50, 1_000)
      let outcomes = race(
        rounds: rounds,
        setUp: {
          let state = Delegates(count, hasSideTable: false, tracker, elsewhere)
          state.station.executor.queue.suspend()
          state.call()
          return state
        },
        actors: [
          { @Sendable (state: Delegates) in state.drop() },
          { @Sendable (state: Delegates) in for _ in 0..<20 { state.call() } },
        ],
        outcome: { state in
          state.station.executor.queue.resume()
          return state.call()
        })
      #expect(outcomes == [0: rounds])
      #expect(elsewhere.value == 0, "a sender has run a deinit")
      #expect(tracker.created == rounds * count)
      #expect(tracker.live == 0)
    }
  }

  /// The delegates of one round. The thread that releases them must destroy them.
  private final class Delegates: @unchecked Sendable {
    // Sendable: `objects` and `observers` are changed by one actor alone; the rest never changes.
    let hub = MulticastDelegate<any Observing>()
    /// One for each round: suspending its queue does not stop a job of an earlier round.
    let station = Station()
    let registrations: [Registration<any Observing>]
    private var objects: [ActingObserver?]
    private let dropping = DroppingThread()
    private var observers: [WeakObserver] = []

    init(_ count: Int, hasSideTable: Bool, _ tracker: LifetimeTracker, _ elsewhere: Counter) {
      let dropping = dropping
      objects = (0..<count).map { _ in
        ActingObserver(
          tracker: tracker, onDeinit: { if !dropping.isCurrent { elsewhere.add(1) } })
      }
      let hub = hub
      registrations = objects.map { hub.add($0!) }
      if hasSideTable { observers = objects.map { WeakObserver(object: $0) } }
    }

    @discardableResult
    func call() -> Int { hub.invoke(onEach: { [station] _ in station }) { _ in } }

    func drop() {
      dropping.begin()
      for index in objects.indices { objects[index] = nil }
    }
  }

  private struct WeakObserver {
    weak var object: ActingObserver?
  }

  /// The thread that releases the objects.
  private final class DroppingThread: Sendable {
    private let thread = Atomic<UInt>(0)

    func begin() { thread.store(UInt(pthread_self()), ordering: .relaxed) }

    var isCurrent: Bool { thread.load(ordering: .relaxed) == UInt(pthread_self()) }
  }

#endif
