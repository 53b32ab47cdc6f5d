public import Dispatch

/// A list of delegates with `async` methods, which it awaits in registration order or concurrently.
///
/// ```swift
/// protocol UploadDelegate: Actor {
///   func didStore(_ key: String) async throws
/// }
///
/// let delegates = MulticastActor<any UploadDelegate>()
/// delegates.add(index)                              // weak; from any thread, without await
/// delegates.add(audit, ownership: .strong)
/// try await delegates.invoke { try await $0.didStore("a.txt") }
/// let results = await delegates.invokeConcurrently(limit: 8, timeout: .seconds(1)) {
///   try await $0.didStore("b.txt")
/// }
/// ```
///
/// It keeps the promises of ``MulticastDelegate`` and returns the same ``Registration``. `add` and
/// `remove` are synchronous, so a removal cannot overtake the addition before it. Delegates have no
/// queues here: an actor runs on its own executor.
///
/// Invocations interleave where they suspend. With `serialized: true` each begins when those before
/// it have ended.
///
/// Cancelling the calling task does not stop an invocation; the delegates can check for it. A body
/// that throws (`try Task.checkCancellation()`) stops ``invoke(_:)``.
///
/// ## Thread safety
/// Every operation may be called from any thread and any task, also inside a callback and in a
/// `deinit`, on this hub or on another. No lock is held while user code runs.
public actor MulticastActor<Delegate: Sendable>: Unreflected {
  @usableFromInline nonisolated let registry: Registry
  @usableFromInline nonisolated let calls: TaskCalls
  private nonisolated let snapshots: SnapshotCache
  /// The running invocation and those that wait for it, if the hub is serialized.
  var invocationQueue: InvocationQueue
  @usableFromInline nonisolated let isSerialized: Bool
  /// Keeps the executor: the one that was passed to `init`, or an actor that has the default one.
  private nonisolated let executorOwner: any AnyObject & Sendable

  /// The executor on which ``invoke(_:)`` calls.
  public nonisolated let unownedExecutor: UnownedSerialExecutor

  /// Creates a hub without delegates that runs on the global pool, or on the task executor that the
  /// caller prefers.
  ///
  /// Inside the callbacks of a serialized hub, `UnsafeCurrentTask.unownedTaskExecutor` is an
  /// executor of the hub, which forwards each job to the one that the caller prefers.
  ///
  /// - Parameters:
  ///   - storage: how delegates are stored; the promises are the same for all strategies.
  ///   - duplicates: what ``add(_:ownership:label:fileID:line:)`` does with a delegate that is
  ///     already registered.
  ///   - serialized: whether an invocation waits until those that arrived before it have ended. One
  ///     that begins inside a callback of this hub, or in a structured child task of one (`async
  ///     let`, a task group), runs at once as a part of it. Deadlock: a child task that sets a task
  ///     executor preference, or runs inside one that the callback set, is not recognised; it waits
  ///     for the callback, which waits for it.
  ///   - name: identifies the hub in descriptions and messages.
  /// - Complexity: O(1).
  public init(
    storage: StorageStrategy = .waitFree, duplicates: DuplicatePolicy = .ignore,
    serialized: Bool = false, name: String? = nil
  ) {
    let owner = DefaultActor()
    self.init(
      storage, duplicates, serialized, name, executorOwner: owner, on: owner.unownedExecutor)
  }

  /// Creates a hub without delegates that runs on `executor`.
  ///
  /// On Apple's platforms `DispatchSerialQueue` is such an executor. The children of a concurrent
  /// invocation do not run on it; see ``invokeConcurrently(limit:timeout:clock:_:)``. Otherwise as
  /// ``init(storage:duplicates:serialized:name:)``.
  ///
  /// - Parameters:
  ///   - storage: how the hub stores its delegates.
  ///   - duplicates: what `add` does with a delegate that is already registered.
  ///   - serialized: whether whole invocations run one at a time.
  ///   - name: identifies the hub in descriptions and messages.
  ///   - executor: runs the actor; the hub keeps it alive.
  /// - Complexity: O(1).
  public init(
    storage: StorageStrategy = .waitFree, duplicates: DuplicatePolicy = .ignore,
    serialized: Bool = false, name: String? = nil, executor: any SerialExecutor
  ) {
    self.init(
      storage, duplicates, serialized, name, executorOwner: executor,
      on: executor.asUnownedSerialExecutor())
  }

  /// Creates a hub without delegates that runs on `queue`: serial, concurrent, global or main.
  ///
  /// The hub runs on a private serial queue that targets `queue`. Otherwise as
  /// ``init(storage:duplicates:serialized:name:executor:)``.
  ///
  /// - Parameters:
  ///   - storage: how the hub stores its delegates.
  ///   - duplicates: what `add` does with a delegate that is already registered.
  ///   - serialized: whether whole invocations run one at a time.
  ///   - name: identifies the hub in descriptions and messages.
  ///   - queue: runs the actor; the hub keeps it alive.
  /// - Complexity: O(1).
  public init(
    storage: StorageStrategy = .waitFree, duplicates: DuplicatePolicy = .ignore,
    serialized: Bool = false, name: String? = nil, on queue: DispatchQueue
  ) {
    self.init(
      storage: storage, duplicates: duplicates, serialized: serialized, name: name,
      executor: QueueExecutor(on: queue))
  }

  private init(
    _ storage: StorageStrategy, _ duplicates: DuplicatePolicy, _ serialized: Bool,
    _ name: String?, executorOwner: any AnyObject & Sendable, on executor: UnownedSerialExecutor
  ) {
    let calls = TaskCalls()
    self.calls = calls
    let snapshots = SnapshotCache()
    self.snapshots = snapshots
    registry = Registry(
      strategy: storage, duplicates: duplicates, extras: ActorExtras(name, calls, snapshots))
    invocationQueue = InvocationQueue()
    isSerialized = serialized
    self.executorOwner = executorOwner
    unownedExecutor = executor
  }

  deinit {
    // Handles may outlive the hub: their registrations become inactive here. No invocation is
    // running, because each one holds the hub.
    registry.removeAll()
  }
}

extension MulticastActor {
  /// The entries that are registered now, retained for an invocation that may suspend.
  @usableFromInline nonisolated var entries: EntrySnapshot { snapshots.snapshot(of: registry) }
}

/// Has the default executor of an actor, for a hub that was created without one.
private actor DefaultActor {}
