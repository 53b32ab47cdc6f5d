internal import Synchronization

/// The mailbox of a registration that is called by an asynchronous function.
///
/// A *worker* is a task that calls the function with one element after the other until none waits.
/// There are at most as many workers as calls may run at once. With one worker, the calls run one
/// at a time and in order.
///
/// A call may suspend and resume on another thread, so the call stacks of threads do not show it.
/// Instead a worker records its task inside the lock when it takes an element, and then checks that
/// the entry is active. `cancelAndWait` makes the entry inactive, and then reads the record inside
/// the lock: either it finds the worker, or the worker finds the entry inactive.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class TaskMailbox: Mailbox, @unchecked Sendable {
  // Sendable: `callers` and `isAtEnd` are used only inside `lock`; the rest never changes.

  typealias Delivery = @Sendable (UnsafeMutablePointer<EntryHead>, Envelope) async -> Void

  /// The actor on which the workers run; `nil`: the global executor.
  private let home: WeakActor?
  private let deliver: Delivery
  private let whenExhausted: (@Sendable (Entry) -> Void)?
  /// The tasks of the workers that are in a call.
  private var callers: [TaskIdentity] = []
  /// Whether `whenExhausted` has run, or is about to.
  private var isAtEnd = false

  /// The number of calls after which a worker yields.
  private static var callsPerYield: Int { 64 }

  /// - Parameters:
  ///   - home: the actor on which the workers run, not kept alive; `nil`: the global executor.
  ///   - state: the initial state, with limit, policy and number of consumers.
  ///   - drops: counts the drops of the whole hub.
  ///   - isPlace: see ``Mailbox/isPlace``.
  ///   - whenExhausted: runs when everything was delivered and no more elements will follow.
  ///   - deliver: passes an element to an entry.
  init(
    on home: (any Actor)?, _ state: consuming MailboxState, drops: DropCounter? = nil,
    isPlace: Bool = true,
    whenExhausted: (@Sendable (Entry) -> Void)? = nil, deliver: @escaping Delivery
  ) {
    self.home = home.map(WeakActor.init)
    self.deliver = deliver
    self.whenExhausted = whenExhausted
    super.init(state, drops: drops, isPlace: isPlace)
  }

  override var place: String { home?.value.map { "actor \(type(of: $0))" } ?? "task" }

  /// Starts a worker.
  override func wake(_ entry: Entry) {
    // SAFETY: many threads may use an entry, though it cannot be declared Sendable: see `Entry`.
    nonisolated(unsafe) let retained = Unmanaged.passRetained(entry)
    guard let home else {
      Task.detached { [self] in await work(retained, isolation: nil) }
      return
    }
    guard let actor = home.value else {
      retained.release()
      // Nothing can be called any more.
      withLock { isDeserted = true }
      cancel(entry)
      whenExhausted?(entry)
      return
    }
    startTask(on: actor, ActorWork { [self] home in await work(retained, isolation: home) })
  }

  /// Starts a worker for each element that waited during a block, within the limit.
  override func resume(_ entry: Entry) {
    let more = withLock {
      let more = max(0, min(state.idleConsumers, state.waiting.count - 1))
      state.idleConsumers -= more
      return more
    }
    for _ in 0...more { wake(entry) }
  }

  /// Does not start a worker, because nothing is left to deliver.
  override func cancel(_ entry: Entry) {
    var discarded = ItemBuffer()
    let effects = withLock { state.close(.cancelled, discarded: &discarded) }
    finish(effects)
    // `discarded` is destroyed here, outside the lock.
  }

  override var isCalling: Bool { withLock { !callers.isEmpty } }

  override var isCalledByCurrentTask: Bool {
    let task = TaskIdentity.current
    return task != .none && withLock { callers.contains(task) }
  }

  /// Begins delivery, in a mailbox that was created busy.
  func start(_ entry: Entry, consumers: Int) {
    let workers = withLock {
      let workers = max(1, min(consumers, state.waiting.count))
      state.idleConsumers = consumers - workers
      return workers
    }
    for _ in 0..<workers { wake(entry) }
  }
}

// MARK: - Calls

extension TaskMailbox {
  /// Calls the function with what waits, until nothing does.
  private func work(_ entry: Unmanaged<Entry>, isolation: isolated (any Actor)?) async {
    let task = TaskIdentity.current
    var calls = 0
    while let (element, position) = take(entry, as: task) {
      let isDelivered = await call(entry, element, isolation: isolation)
      finish(
        withLock {
          callers.removeAll { $0 == task }
          return state.finishOne(position, isDelivered: isDelivered)
        })
      calls += 1
      if calls % Self.callsPerYield == 0 { await Task.yield() }
    }
    let isExhausted = withLock {
      guard state.isExhausted, !state.isBlocked, state.inFlight == 0, !isAtEnd else { return false }
      isAtEnd = true
      return true
    }
    // If this is the last reference, the `deinit` of what the entry owns runs here.
    let entry = entry.takeRetainedValue()
    if isExhausted { whenExhausted?(entry) }
  }

  private func take(
    _ entry: Unmanaged<Entry>, as task: TaskIdentity
  ) -> (element: Envelope, position: Int)? {
    let (taken, effects) = withLock {
      let (taken, effects) = state.takeOne()
      if taken != nil { callers.append(task) }
      return (taken, effects)
    }
    entry._withUnsafeGuaranteedRef { perform(effects, for: $0) }
    return taken
  }

  /// - Returns: whether the entry was active and its target alive, and so was called.
  private func call(
    _ entry: Unmanaged<Entry>, _ element: Envelope, isolation: isolated (any Actor)?
  ) async -> Bool {
    let head = entry.head
    // Acquiring: pairs with the thread that removed the entry.
    guard EntryHead.isActive(head.pointee.state.load(ordering: .acquiring)) else { return false }
    guard head.pointee.isWeak else {
      await deliver(head, element)
      return true
    }
    guard let target = WeakReference(word: head.pointee.target).promote() else { return false }
    // If this is the last release, the target's `deinit` runs here, outside any lock.
    defer { target.release() }
    await deliver(head, element)
    return true
  }
}
