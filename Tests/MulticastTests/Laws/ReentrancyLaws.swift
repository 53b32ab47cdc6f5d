// `forEach` of a hub is under test here, not that of `Sequence`.

import Multicast
import MulticastTestSupport
import Testing

/// What user code may do with a hub, wherever it runs.
enum HubOperation: CaseIterable {
  case addWeakly
  case addStrongly
  case remove
  case removeAll
  case cancel
  case cancelAndWait
  case prune
  case invoke
  case forEach
  case results
  case count
  case contains
  case delegates
  case iterate
  case describe

  func run(on hub: MulticastDelegate<any Observing>) {
    let delegate = RecordingObserver(99)
    switch self {
    case .addWeakly: hub.add(delegate)
    case .addStrongly: hub.add(delegate, ownership: .strong).cancel()
    case .remove: hub.remove(delegate)
    case .removeAll: hub.removeAll()
    case .cancel: hub.add(delegate).cancel()
    case .cancelAndWait: #expect(hub.add(delegate).cancelAndWait(timeout: .seconds(60)))
    case .prune: hub.prune()
    case .invoke: hub.invoke { _ in }
    case .forEach: hub.forEach { _ in }
    case .results: #expect(hub.results { $0.id }.count <= 10)
    case .count: #expect(hub.count <= 10)
    case .contains: #expect(!hub.contains(delegate))
    case .delegates: #expect(hub.delegates.count <= 10)
    case .iterate: for delegate in hub { #expect(delegate.id >= 0) }
    case .describe: #expect(!hub.description.isEmpty)
    }
  }

  /// Runs all of them on another thread while this one waits for it. They would deadlock if this
  /// thread held a lock.
  static func runAllElsewhere(on hub: MulticastDelegate<any Observing>) {
    runThreads(1) { _ in
      for operation in allCases { operation.run(on: hub) }
    }
  }
}

@Suite("Promise 3: no lock is held while user code runs, and no user object is destroyed under one")
struct ReentrancyLaws {
  @Test(
    "every operation is legal from inside a callback",
    arguments: StorageStrategy.allCases, HubOperation.allCases)
  func fromInsideACallback(storage: StorageStrategy, operation: HubOperation) {
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let delegates = (0..<3).map { RecordingObserver($0) }
    for delegate in delegates { hub += delegate }
    hub.forEach { delegate in
      delegate.receive(1)
      operation.run(on: hub)
    }
    hub.invoke { _ in operation.run(on: hub) }
    #expect(delegates.map(\.calls) == (operation == .removeAll ? [1, 0, 0] : [1, 1, 1]))
  }

  @Test(
    "every operation is legal on another thread that a callback waits for",
    arguments: StorageStrategy.allCases)
  func onAThreadThatACallbackWaitsFor(storage: StorageStrategy) {
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let delegate = RecordingObserver()
    hub += delegate
    hub.forEach { _ in HubOperation.runAllElsewhere(on: hub) }
    hub += delegate
    hub.invoke { _ in HubOperation.runAllElsewhere(on: hub) }
    hub += delegate
    let answers: [Result<Int, Never>] = hub.results { delegate in
      HubOperation.runAllElsewhere(on: hub)
      return delegate.id
    }
    #expect(answers.count == 1)
  }

  /// The ways in which a hub releases a strong delegate.
  enum LettingGo: CaseIterable {
    case remove
    case cancel
    case removeAll
    case replace
    case endOfHub
  }

  @Test(
    "every operation is legal in the deinit of a delegate, on another thread too",
    arguments: StorageStrategy.allCases, LettingGo.allCases)
  func inTheDeinitOfADelegate(storage: StorageStrategy, way: LettingGo) {
    let tracker = LifetimeTracker()
    let other = MulticastDelegate<any Observing>(storage: storage)
    var hub: MulticastDelegate? = MulticastDelegate<any Observing>(
      storage: storage, duplicates: .replace)
    let used = way == .endOfHub ? other : hub!
    let registration: Registration<any Observing>
    do {
      let delegate = ActingObserver(
        tracker: tracker,
        onDeinit: { [unowned used] in
          HubOperation.runAllElsewhere(on: used)
          for operation in HubOperation.allCases { operation.run(on: used) }
        })
      registration = hub!.add(delegate, ownership: .strong)
      // Either of these may hold the last reference to the delegate.
      if way == .remove { hub!.remove(delegate) }
      if way == .replace { hub!.add(delegate) }
    }
    switch way {
    case .remove, .replace: break
    case .cancel: registration.cancel()
    case .removeAll: hub!.removeAll()
    case .endOfHub: hub = nil
    }
    #expect(tracker.live == 0)
    #expect(hub?.isEmpty ?? true)
  }

  @Test(
    "the last release of a delegate by its own call runs its deinit without a lock",
    arguments: StorageStrategy.allCases)
  func lastReleaseByTheCall(storage: StorageStrategy) {
    let tracker = LifetimeTracker()
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let neighbour = RecordingObserver(2)
    let holder = Holder<ActingObserver>(
      ActingObserver(
        1, tracker: tracker,
        onDeinit: { [unowned hub] in
          HubOperation.runAllElsewhere(on: hub)
          for operation in HubOperation.allCases { operation.run(on: hub) }
        }))
    hub.add(holder.value!)
    hub.add(neighbour)
    hub.forEach { delegate in
      if delegate.id == 1 { holder.value = nil }
      // It is retained for exactly its call, so it is gone before the next one.
      #expect(tracker.live == (delegate.id == 1 ? 1 : 0))
    }
    #expect(tracker.live == 0)
  }

  @Test(
    "a delegate that removes many others on its way out does so without a lock",
    arguments: StorageStrategy.allCases)
  func chainOfDeinits(storage: StorageStrategy) {
    let tracker = LifetimeTracker()
    let hub = MulticastDelegate<any Observing>(storage: storage)
    // Each registration is cancelled by the deinit of the delegate before it.
    var next: Registration<any Observing>?
    for id in 0..<50 {
      let registration = next
      next = hub.add(
        ActingObserver(id, tracker: tracker, onDeinit: { registration?.cancel() }),
        ownership: .strong)
    }
    #expect(tracker.live == 50)
    next?.cancel()
    #expect(tracker.live == 0)
    #expect(hub.isEmpty)
  }

  @Test("no hash and no == of a delegate is ever called", arguments: StorageStrategy.allCases)
  func hashAndEqualityAreNeverCalled(storage: StorageStrategy) {
    for duplicates in DuplicatePolicy.allCases {
      let hub = MulticastDelegate<Incomparable>(storage: storage, duplicates: duplicates)
      let delegates = (0..<20).map { _ in Incomparable() }
      for delegate in delegates { hub.add(delegate) }
      for delegate in delegates { hub.add(delegate, ownership: .strong) }
      #expect(hub.contains(delegates[3]))
      #expect(hub[delegates[0]] == 0)
      for delegate in delegates { #expect(hub.remove(delegate)) }
      #expect(hub.isEmpty)
    }
  }
}

/// A delegate that cannot be compared.
private final class Incomparable: Hashable, Sendable {
  static func == (_: Incomparable, _: Incomparable) -> Bool {
    fatalError("delegates were compared")
  }

  func hash(into _: inout Hasher) {
    fatalError("a delegate was hashed")
  }
}
