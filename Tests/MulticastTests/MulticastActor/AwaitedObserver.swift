import Multicast
import MulticastTestSupport
import Synchronization

/// A protocol of delegates that are awaited.
protocol Awaited: AnyObject, Sendable {
  var id: Int { get }
  func receive(_ value: Int) async
}

/// A delegate that records each call and runs a closure.
final class AwaitedObserver: Awaited {
  let id: Int
  private let journal: Journal?
  private let tracker: LifetimeTracker?
  private let received = Atomic(0)
  private let poisoned = Atomic(false)
  private let action: @Sendable (Int) async -> Void

  init(
    _ id: Int, journal: Journal? = nil, tracker: LifetimeTracker? = nil,
    action: @escaping @Sendable (Int) async -> Void = { _ in }
  ) {
    self.id = id
    self.journal = journal
    self.tracker = tracker
    self.action = action
    tracker?.noteCreation()
  }

  deinit {
    tracker?.noteDestruction()
  }

  var calls: Int { received.load(ordering: .sequentiallyConsistent) }

  /// Forbids further calls, and calls in progress: the tracker counts both.
  func poison() { poisoned.store(true, ordering: .sequentiallyConsistent) }

  func receive(_ value: Int) async {
    received.add(1, ordering: .sequentiallyConsistent)
    journal?.record(id)
    await action(value)
    if poisoned.load(ordering: .sequentiallyConsistent) { tracker?.noteLateCall() }
  }
}

/// A delegate that is an actor: each call suspends the invocation.
actor AwaitedActor: Awaited {
  nonisolated let id: Int
  private let journal: Journal

  init(_ id: Int, journal: Journal) {
    self.id = id
    self.journal = journal
  }

  func receive(_ value: Int) async {
    journal.record(id)
  }
}

typealias AwaitingHub = MulticastActor<any Awaited>

/// The ways to call every delegate of a hub.
enum WayOfCalling: CaseIterable {
  case inOrder
  case concurrently
  case oneAtATime
  case voting

  var isOrdered: Bool { self == .inOrder || self == .oneAtATime }

  func call(_ hub: AwaitingHub, _ value: Int = 1) async {
    switch self {
    case .inOrder:
      await hub.invoke { await $0.receive(value) }
    case .concurrently:
      _ = await hub.invokeConcurrently { await $0.receive(value) }
    case .oneAtATime:
      _ = await hub.invokeConcurrently(limit: 1) { await $0.receive(value) }
    case .voting:
      let isUnanimous = await hub.allSatisfy {
        await $0.receive(value)
        return true
      }
      precondition(isUnanimous)
    }
  }
}

/// Yields to other tasks until `condition` holds.
func yieldTask(until condition: () async -> Bool) async {
  while !(await condition()) { await Task.yield() }
}
