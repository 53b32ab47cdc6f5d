import MulticastTestSupport
import Synchronization
import Testing

@testable import Multicast

@Suite("What the library relies on in the runtime of this toolchain")
struct RuntimeContractTests {
  @Test("nothing differs from the contract, and it can be checked again")
  func nothingDiffers() {
    for _ in 0..<1_000 { #expect(RuntimeContract.differences == []) }
    #expect(RuntimeContract.holds)
  }

  @Test("a difference ends the process with a message that names it and the remedy")
  func differenceIsNamed() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      RuntimeContract.demandNone(of: ["objects are green", "tasks are long"])
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains("objects are green; tasks are long"))
    #expect(message.contains("-DMULTICAST_PORTABLE_WEAK"))
    #expect(message.contains("Report it"))
  }

  @Test("the reference to the current task is one word, the same as long as the task runs")
  func currentTask() async {
    #expect(MemoryLayout<UnsafeCurrentTask>.size == MemoryLayout<UInt>.size)
    let before = TaskIdentity.current
    await Task.yield()
    #expect(before != .none && TaskIdentity.current == before)
    let other = await Task { TaskIdentity.current }.value
    #expect(other != .none && other != before)
  }

  @Test("the current task, and whether it is cancelled, as the standard library tells")
  func currentTaskAndCancellation() async {
    func address() -> UInt {
      withUnsafeCurrentTask { $0.map { unsafeBitCast($0, to: UInt.self) } ?? 0 }
    }
    #expect(TaskIdentity.current.rawValue == address() && address() != 0)
    #expect(!TaskIdentity.isCurrentCancelled)
    await Task {
      #expect(!TaskIdentity.isCurrentCancelled)
      withUnsafeCurrentTask { $0?.cancel() }
      #expect(TaskIdentity.isCurrentCancelled && Task.isCancelled)
      #expect(TaskIdentity.current.rawValue == address())
    }.value
    let outside = Journal()
    RunningThread {
      if TaskIdentity.current == .none && !TaskIdentity.isCurrentCancelled { outside.record(1) }
    }.join()
    #expect(outside.entries.count == 1)
  }

  @Test("a weak delegate that had a weak reference before", arguments: StorageStrategy.allCases)
  func sideTable(_ strategy: StorageStrategy) {
    let tracker = LifetimeTracker()
    let hub = MulticastDelegate<any Observing>(storage: strategy)
    var delegate: RecordingObserver? = RecordingObserver(tracker: tracker)
    weak let weakDelegate = delegate
    let registration = hub.add(delegate!)
    hub.invoke { $0.receive(0) }
    #expect(delegate?.calls == 1)
    #expect(registration.isActive)
    delegate = nil
    #expect(weakDelegate == nil && tracker.live == 0)
    #expect(!registration.isActive)
    #expect(hub.invoke { $0.receive(0) } == 0)
    #expect(hub.prune() == 0, "the invocation has pruned")
  }

  @Test("a weak delegate that gets a weak reference later", arguments: StorageStrategy.allCases)
  func laterSideTable(_ strategy: StorageStrategy) {
    let tracker = LifetimeTracker()
    let hub = MulticastDelegate<any Observing>(storage: strategy)
    var delegate: RecordingObserver? = RecordingObserver(tracker: tracker)
    let registration = hub.add(delegate!)
    weak let weakDelegate = delegate
    hub.invoke { $0.receive(0) }
    #expect(delegate?.calls == 1 && registration.isActive)
    delegate = nil
    #expect(weakDelegate == nil && tracker.live == 0 && !registration.isActive)
    #expect(hub.prune() == 1)
  }

  #if !canImport(ObjectiveC)
    @Test("a weak delegate that is immortal", arguments: StorageStrategy.allCases)
    func immortal(_ strategy: StorageStrategy) {
      // SAFETY: where every object is a native one, a collection is a reference to its storage.
      // That of empty ones is never counted and never dies.
      let objects = [
        unsafeBitCast([] as ContiguousArray<Int>, to: AnyObject.self),
        unsafeBitCast([:] as [Int: Int], to: AnyObject.self),
        unsafeBitCast([] as Set<Int>, to: AnyObject.self),
      ]
      let hub = MulticastDelegate<AnyObject>(storage: strategy)
      let registrations = objects.map { hub.add($0) }
      for _ in 0..<1_000 {
        var called: [ObjectIdentifier] = []
        hub.forEach { called.append(ObjectIdentifier($0)) }
        #expect(called == objects.map(ObjectIdentifier.init))
      }
      #expect(registrations.allSatisfy { $0.isActive })
      #expect(hub.prune() == 0)
      for object in objects { #expect(hub.remove(object)) }
      #expect(hub.isEmpty)
    }
  #endif

  @Test(
    "100,000 weak delegates, each of which dies while threads call it", arguments: [false, true])
  func raced(haveSideTables: Bool) {
    let tracker = LifetimeTracker()
    let (rounds, count) = (100, 1_000)
    let outcomes = race(
      rounds: rounds,
      setUp: { MortalDelegates(count, haveSideTables: haveSideTables, tracker) },
      actors: [
        { $0.drop() },
        { state in for _ in 0..<5 { state.hub.forEach { $0.receive(0) } } },
        { $0.readWeakly() },
      ],
      outcome: { state in
        state.hub.prune()
        return state.hub.isEmpty
      })
    #expect(outcomes == [true: rounds])
    #expect(tracker.created == rounds * count)
    #expect(tracker.live == 0)
  }
}

/// The delegates of one round.
private final class MortalDelegates: @unchecked Sendable {
  // Sendable: `objects` is changed by one actor alone, and `observers` is not changed.
  let hub = MulticastDelegate<any Observing>()
  private let registrations: [Registration<any Observing>]
  private var objects: [RecordingObserver?]
  private let observers: [WeakObserver]

  init(_ count: Int, haveSideTables: Bool, _ tracker: LifetimeTracker) {
    let objects = (0..<count).map { RecordingObserver($0, tracker: tracker) }
    observers = haveSideTables ? objects.map { WeakObserver(object: $0) } : []
    let hub = hub
    registrations = objects.map { hub.add($0) }
    self.objects = objects
  }

  func drop() {
    for index in objects.indices { objects[index] = nil }
  }

  /// Reads each object through Swift's own weak reference, if it has one, and asks for its state.
  func readWeakly() {
    for observer in observers { observer.object?.receive(0) }
    for registration in registrations { _ = registration.isActive }
  }
}

private struct WeakObserver {
  weak let object: RecordingObserver?
}
