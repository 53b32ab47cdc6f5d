internal import Synchronization

/// The mailbox of a registration that is called by an asynchronous function.
///
/// A *worker* is a task that calls the function with one element after the other until none waits.
/// There are at most as many workers as calls may run at once. With one worker, the calls run one
/// at a time and in order. If its mailbox has no limit, it takes several elements at once, because
/// the lock and the bookkeeping for each would cost more than a short call.
///
/// A call may suspend and resume on another thread, so the call stacks of threads do not show it.
/// Instead a worker records its task inside the lock when it takes elements, and before each call
/// it checks that the entry is active. `cancelAndWait` makes the entry inactive, and then reads the
/// record inside the lock: either it finds the worker, or the worker finds the entry inactive.
///
/// ## Thread safety
/// Every operation may be called from any thread.
final class TaskMailbox: Mailbox, @unchecked Sendable {
  // Sendable: `callers` and `isAtEnd` are used only inside `withLock`, `batch` only by the only
  // worker; `receiver` does not change once the entry is published, and the rest never changes, or
  // synchronizes itself.
  //
  // SAFETY, of unchecked exclusivity: for the same reason no two accesses overlap, and none of them
  // runs other code.

  /// The actor on which the workers run; `nil`: the global executor.
  private let home: WeakActor?
  /// Gets the elements. Set before the entry, which owns it unless this mailbox does, is published.
  @exclusivity(unchecked) var receiver: Unmanaged<ElementReceiver>?
  /// The receiver of a mailbox whose elements are calls.
  private let caller: ElementReceiver?
  private let whenExhausted: (@Sendable (Entry) -> Void)?
  /// Whether there is one worker at most.
  private let isSerial: Bool
  /// The most elements that the only worker takes at once. Several only if a sender never drops nor
  /// replaces an element, nor waits for space: what has been taken, it finds gone.
  private let batchLimit: Int
  /// What the only worker has taken and not yet delivered.
  @exclusivity(unchecked) private var batch = ItemBuffer()
  /// How many of the latest batch the only worker has delivered.
  private let deliveredOfBatch = BatchCount()
  /// The tasks of the workers that are in a call.
  @exclusivity(unchecked) private var callers: [TaskIdentity] = []
  /// Whether `whenExhausted` has run, or is about to.
  @exclusivity(unchecked) private var isAtEnd = false

  /// The number of calls after which a worker yields.
  private static var callsPerYield: Int { 64 }

  /// - Parameters:
  ///   - home: the actor on which the workers run, not kept alive; `nil`: the global executor.
  ///   - limit: the most elements that wait.
  ///   - whenFull: the policy for more.
  ///   - isIdle: whether a worker must be woken for the first element.
  ///   - workers: the most calls at once.
  ///   - coalesces: whether new elements replace those that wait.
  ///   - drops: counts the drops of the whole hub.
  ///   - isPlace: see ``Mailbox/isPlace``.
  ///   - whenExhausted: runs when everything was delivered and no more elements will follow.
  ///   - caller: gets the elements, if they are calls.
  init(
    on home: (any Actor)?, limit: Int = .max, whenFull: OverflowPolicy = .dropNewest,
    isIdle: Bool = true, workers: Int = 1, coalesces: Bool = false, drops: DropCounter? = nil,
    isPlace: Bool = true, whenExhausted: (@Sendable (Entry) -> Void)? = nil,
    caller: ElementReceiver? = nil
  ) {
    self.home = home.map(WeakActor.init)
    self.caller = caller
    receiver = caller.map { .passUnretained($0) }
    self.whenExhausted = whenExhausted
    isSerial = workers == 1
    batchLimit = limit == .max && !coalesces ? Self.callsPerYield : 1
    super.init(
      MailboxState(limit: limit, whenFull: whenFull, isIdle: isIdle, consumers: workers),
      drops: drops, isPlace: isPlace)
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
  override func cancel(_ entry: Entry) { cancelWithoutWaking(entry) }

  override var statistics: DeliveryStatistics {
    withLock {
      var statistics = state.statistics
      statistics.delivered += deliveredOfBatch.value
      return statistics
    }
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

// MARK: - Workers

extension TaskMailbox {
  /// Calls the function with what waits, until nothing does.
  private func work(_ entry: Unmanaged<Entry>, isolation: isolated (any Actor)?) async {
    // SAFETY: the worker holds the entry, which owns the receiver, or this mailbox, which does.
    let receiver = receiver!.takeUnretainedValue()
    if isSerial {
      await callInOrder(entry, receiver)
    } else {
      await callBesideOthers(entry, receiver)
    }
    let isExhausted = withLock {
      guard state.isExhausted, !state.isBlocked, state.inFlight == 0, !isAtEnd else { return false }
      isAtEnd = true
      return true
    }
    // If this is the last reference, the `deinit` of what the entry owns runs here.
    // SAFETY: `wake` has retained it for this worker.
    let entry = entry.takeRetainedValue()
    if isExhausted { whenExhausted?(entry) }
  }

  /// A call that has begun.
  private struct Call {
    /// That of a weak entry, retained.
    let target: Unmanaged<AnyObject>?

    /// If this is the last release, the target's `deinit` runs here, outside any lock.
    func end() { target?.release() }
  }

  /// - Returns: `nil` if the entry is not active, or its target is not alive.
  private func begin(_ head: UnsafeMutablePointer<EntryHead>) -> Call? {
    // Acquiring: pairs with the thread that removed the entry.
    guard EntryHead.isActive(head.pointee.state.load(ordering: .acquiring)) else { return nil }
    guard head.pointee.isWeak else { return Call(target: nil) }
    return WeakReference(word: head.pointee.target).promote().map { Call(target: $0) }
  }
}

// MARK: - One worker

extension TaskMailbox {
  private func callInOrder(_ entry: Unmanaged<Entry>, _ receiver: ElementReceiver) async {
    var calls = 0
    while takeBatch() {
      calls += batch.count
      // SAFETY: the worker holds the entry.
      while entry._withUnsafeGuaranteedRef({ !$0.isBlocked }), let item = batch.popFirst() {
        // By hand, because the compiler would retain it for the call.
        let element = item.element.intoReference()
        if let call = begin(entry.head) {
          await receiver.receiveInTask(element, for: entry.head)
          call.end()
          deliveredOfBatch.add(1)
        }
        element.release()
      }
      finishBatch(of: entry)
      guard calls >= Self.callsPerYield else { continue }
      calls = 0
      await Task.yield()
    }
  }

  /// Takes what waits, up to the limit.
  ///
  /// - Returns: whether something waited. Otherwise the worker is idle, and `batch` may belong to
  ///   another one, which a sender has woken.
  private func takeBatch() -> Bool {
    let (isOurs, effects) = withLock { () -> (Bool, MailboxState.Effects?) in
      let effects = state.beginBatch(batchLimit, into: &batch)
      if batch.isEmpty { state.idleConsumers = 1 } else { callers.append(.current) }
      return (!batch.isEmpty, effects)
    }
    perturb()
    if let effects { finish(effects) }
    return isOurs
  }

  /// Ends the calls with what was taken. If the entry was blocked, the rest waits again.
  private func finishBatch(of entry: Unmanaged<Entry>) {
    let effects = withLock { () -> MailboxState.Effects? in
      callers.removeAll(keepingCapacity: true)
      // Here too, because the thread that has blocked the entry may not have come so far.
      // SAFETY: the worker holds the entry.
      entry._withUnsafeGuaranteedRef { recordBlock(of: $0) }
      state.putBack(&batch)
      let (_, effects) = state.endBatch(delivered: deliveredOfBatch.take())
      // The worker is about to take more, so no sender has to wake another one.
      state.idleConsumers = 0
      return effects
    }
    if let effects { finish(effects) }
    guard !batch.isEmpty else { return }
    // The mailbox was cancelled. Destroyed here, when nothing accesses `batch`.
    var discarded = ItemBuffer()
    swap(&discarded, &batch)
  }
}

// MARK: - Several workers

extension TaskMailbox {
  private func callBesideOthers(_ entry: Unmanaged<Entry>, _ receiver: ElementReceiver) async {
    let task = TaskIdentity.current
    var calls = 0
    while let (element, position) = take(entry, as: task) {
      let call = begin(entry.head)
      if let call {
        await receiver.receiveInTask(element, for: entry.head)
        call.end()
      }
      finish(
        withLock {
          callers.removeAll { $0 == task }
          return state.finishOne(position, isDelivered: call != nil)
        })
      element.release()
      calls += 1
      if calls % Self.callsPerYield == 0 { await Task.yield() }
    }
  }

  private func take(
    _ entry: Unmanaged<Entry>, as task: TaskIdentity
  ) -> (element: EnvelopeReference, position: Int)? {
    let (taken, effects) = withLock {
      let (taken, effects) = state.takeOne()
      if taken != nil { callers.append(task) }
      return (taken, effects)
    }
    // SAFETY: the worker holds the entry.
    entry._withUnsafeGuaranteedRef { perform(effects, for: $0) }
    return taken.map { ($0.element.intoReference(), $0.position) }
  }
}
