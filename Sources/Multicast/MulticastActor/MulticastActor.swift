public import Dispatch

/// A delegate that is many delegates, for those with `async` methods: awaits them in order or all
/// at once.
///
/// ```swift
/// protocol UploadDelegate: Actor {
///   func didStore(_ key: String) async throws
/// }
///
/// let delegates = MulticastActor<any UploadDelegate>()
/// delegates.add(index)                              // weakly, from any thread, without await
/// delegates.add(audit, ownership: .strong)
/// try await delegates.invoke { try await $0.didStore("a.txt") }
/// let results = await delegates.invokeConcurrently(limit: 8, timeout: .seconds(1)) {
///   try await $0.didStore("b.txt")
/// }
/// ```
///
/// It makes the promises of ``MulticastDelegate`` and has its registrations. Registering is
/// synchronous, so that ending a registration cannot overtake its beginning. There is no queue for
/// a delegate here: a delegate that is an actor runs where it belongs anyway.
///
/// Invocations that overlap run concurrently, wherever one of them is suspended. With `serialized:
/// true` each begins when those before it have ended.
///
/// It does not stop when the task that invokes is cancelled: the delegates see that, and decide. A
/// body that throws (`try Task.checkCancellation()`) stops ``invoke(_:)``.
///
/// ## Thread safety
/// Every operation may be called from any thread and any task, also from inside a callback and from
/// a `deinit`, on this hub or on another. No lock is held while user code runs.
public actor MulticastActor<Delegate: Sendable> {
  @usableFromInline nonisolated let registry: Registry
  @usableFromInline nonisolated let calls: TaskCalls
  private nonisolated let snapshots: SnapshotCache
  /// The order of whole invocations, if the hub is serialized.
  var invocationQueue: InvocationQueue
  @usableFromInline nonisolated let isSerialized: Bool
  /// What the hub runs on: the executor that was given, or an actor without one of its own.
  private nonisolated let host: any AnyObject & Sendable

  /// The executor on which ``invoke(_:)`` calls.
  public nonisolated let unownedExecutor: UnownedSerialExecutor

  /// Creates a hub without delegates that runs on the global pool, or on the task executor that the
  /// caller prefers.
  ///
  /// Inside the callbacks of a serialized hub, `UnsafeCurrentTask.unownedTaskExecutor` is an executor
  /// of the hub's, which passes each job to the one that the caller prefers.
  ///
  /// - Parameters:
  ///   - storage: how delegates are stored; the promises are the same for all strategies.
  ///   - duplicates: what ``add(_:ownership:)`` does with a delegate that is already registered.
  ///   - serialized: whether an invocation waits until those that came before it have ended. One
  ///     that begins inside a callback of this hub, or in a structured child task of one (`async
  ///     let`, a task group), runs at once, as a part of it. A child that sets a task executor
  ///     preference of its own, or is inside one that the callback set, is not recognised: it waits
  ///     for its turn, and so for ever, because the callback waits for it.
  public init(
    storage: StorageStrategy = .waitFree, duplicates: DuplicatePolicy = .ignored,
    serialized: Bool = false
  ) {
    let host = PoolHost()
    self.init(storage, duplicates, serialized, host: host, on: host.unownedExecutor)
  }

  /// Creates a hub without delegates that runs on `executor`.
  ///
  /// Where `DispatchSerialQueue` is an executor (on Apple's platforms) it can be given here.
  /// Otherwise as ``init(storage:duplicates:serialized:)``. The children of a concurrent invocation
  /// do not run on it, see ``invokeConcurrently(limit:timeout:clock:_:)``.
  public init(
    storage: StorageStrategy = .waitFree, duplicates: DuplicatePolicy = .ignored,
    serialized: Bool = false, executor: any SerialExecutor
  ) {
    self.init(
      storage, duplicates, serialized, host: executor,
      on: executor.asUnownedSerialExecutor())
  }

  /// Creates a hub without delegates that runs on `queue`: serial, concurrent, global or main.
  ///
  /// It runs on a serial queue of its own that targets `queue`. Otherwise as
  /// ``init(storage:duplicates:serialized:executor:)``.
  public init(
    storage: StorageStrategy = .waitFree, duplicates: DuplicatePolicy = .ignored,
    serialized: Bool = false, on queue: DispatchQueue
  ) {
    self.init(
      storage: storage, duplicates: duplicates, serialized: serialized,
      executor: QueueExecutor(on: queue))
  }

  private init(
    _ storage: StorageStrategy, _ duplicates: DuplicatePolicy, _ serialized: Bool,
    host: any AnyObject & Sendable, on executor: UnownedSerialExecutor
  ) {
    let calls = TaskCalls()
    self.calls = calls
    let snapshots = SnapshotCache()
    self.snapshots = snapshots
    registry = Registry(strategy: storage, duplicates: duplicates, taskCalls: calls) { _ in
      snapshots.invalidate()
    }
    invocationQueue = InvocationQueue()
    isSerialized = serialized
    self.host = host
    unownedExecutor = executor
  }

  deinit {
    // Registrations may outlive the hub: they become inactive now. Nobody is inside an invocation,
    // because whoever is holds the hub.
    registry.removeAll()
  }
}

extension MulticastActor {
  /// The entries that are registered now, for an invocation that may suspend.
  @usableFromInline nonisolated var snapshot: EntrySnapshot { snapshots.snapshot(of: registry) }
}

/// Gives a hub without an executor the one that every actor has.
private actor PoolHost {}
