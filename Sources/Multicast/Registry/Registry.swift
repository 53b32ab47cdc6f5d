public import Synchronization

/// The entries of one hub, in the storage that its strategy names.
///
/// The public types are typed views of a registry. The registry is not generic: only an invocation
/// knows the type of the values.
///
/// ## Thread safety
/// Every operation may be called from any thread, also from inside a callback and from a `deinit`.
@usableFromInline
final class Registry: Sendable {
  let storage: any EntryStorage
  let strategy: StorageStrategy
  let duplicates: DuplicatePolicy
  /// Whether a delegate with a place was added. Stored before its entry is published, and loaded
  /// after the list and its count: an invocation that finds `false` finds such an entry only where
  /// it has replaced another one in the meantime.
  @usableFromInline let mayHavePlaces = Atomic(false)  // Relaxed: published with the entry.
  /// The storage if the strategy is `waitFree`: the fast path of an invocation.
  @usableFromInline let published: Unmanaged<WaitFreeStorage>?

  /// What not every hub has, in one word.
  private let lazyExtras: LazyReference<RegistryExtras>

  init(
    strategy: StorageStrategy, duplicates: DuplicatePolicy, extras: RegistryExtras?
  ) {
    _ = RuntimeContract.holds  // Checks once in a process.
    lazyExtras = LazyReference(extras)
    self.strategy = strategy
    self.duplicates = duplicates
    switch strategy {
    case .locked:
      (storage, published) = (LockedStorage(), nil)
    case .copyOnWrite:
      (storage, published) = (CopyOnWriteStorage(), nil)
    case .readerWriterLock:
      (storage, published) = (ReaderWriterLockStorage(), nil)
    case .barrierQueue:
      (storage, published) = (BarrierQueueStorage(), nil)
    case .waitFree:
      let waitFree = WaitFreeStorage()
      (storage, published) = (waitFree, .passUnretained(waitFree))
    }
  }
}

extension Registry {
  convenience init(strategy: StorageStrategy, duplicates: DuplicatePolicy, name: String?) {
    self.init(
      strategy: strategy, duplicates: duplicates, extras: name.map { DelegateExtras($0) })
  }

  /// What not every hub has; `nil` if the hub has nothing of it.
  var extras: RegistryExtras? { lazyExtras.current }

  /// Whether anything observes the hub.
  @inline(__always)
  var isInspected: Bool {
    // SAFETY: the registry keeps its extras.
    lazyExtras.unretained?._withUnsafeGuaranteedRef { $0.isInspected } ?? false
  }

  /// The name of the hub, for descriptions and messages.
  var name: String? { extras?.name }

  /// The calls of tasks, if the hub awaits its delegates.
  var taskCalls: CallTracking? { extras?.taskCalls }

  /// The extras, made if there are none yet: only those of a hub of delegates are made later.
  private var extrasOrNew: RegistryExtras { lazyExtras.current(or: DelegateExtras()) }

  /// What counts the dropped calls of a delegate with this buffer; `nil` if it drops none.
  func callDrops(of buffering: QueueBuffering) -> DropCounter? {
    buffering == .unbounded ? nil : extrasOrNew.callDropsOrNew()
  }

  /// What the hub has been asked to observe, made if there is nothing yet.
  func inspectionOrNew() -> HubInspection {
    extrasOrNew.inspectionOrNew()
  }
}

// MARK: - Changes

extension Registry {
  /// Adds an entry for `delegate`, as the policy for duplicates says.
  ///
  /// - Returns: a handle of the new or the existing entry.
  func add<Value>(
    _ delegate: Value, ownership: Ownership, mailbox: Mailbox? = nil, origin: Origin = .unknown
  ) -> EntryHandle {
    if mailbox != nil { mayHavePlaces.store(true, ordering: .relaxed) }
    // SAFETY: `insert` takes over this retain if it adds the entry; otherwise it is released below.
    let entry = Unmanaged.passRetained(
      Entry.make(
        delegate, ownership: ownership, mailbox: mailbox, origin: wordOfDelegate(origin),
        hub: name))
    let handle = EntryHandle(entry, in: self)
    guard let existing = insert(entry, duplicates) else { return handle }
    let merged = merge(entry, delegate, ownership, mailbox, origin, into: existing)
    // First, because until then the entry, which was not added, counts as one of its line.
    entry.release()
    if currentLeakWatch != nil, let entry = merged?.entry, entry !== existing {
      warnIfLeaking(entry)
    }
    return merged ?? handle
  }

  /// Gives an existing registration what a new one of the same delegate asks for beside it.
  ///
  /// - Parameters:
  ///   - entry: that of the new registration, which was not added.
  ///   - existing: that of the existing one.
  /// - Returns: the handle of the existing registration, or of the one that has replaced it; `nil`:
  ///   it was removed in the meantime, and `entry` was added, with a retain of its own.
  private func merge<Value>(
    _ entry: Unmanaged<Entry>, _ delegate: Value, _ ownership: Ownership, _ mailbox: Mailbox?,
    _ origin: Origin, into existing: Entry
  ) -> EntryHandle? {
    var existing = existing
    while true {
      // SAFETY: the caller holds the entry.
      guard entry._withUnsafeGuaranteedRef({ $0.extendsTerms(of: existing) }) else {
        return withExtendedLifetime(existing) {
          EntryHandle(.passUnretained(existing), in: self)
        }
      }
      perturb()
      // SAFETY: the storage takes over this retain if the exchange succeeds; otherwise it is
      // released.
      let merged = Unmanaged.passRetained(
        Entry.make(
          delegate, ownership: existing.head.pointee.isWeak ? ownership : .strong,
          mailbox: mailbox ?? existing.mailbox?.renewed(), origin: wordOfDelegate(origin)))
      let handle = EntryHandle(merged, in: self)
      // Fails if another thread has removed or exchanged the existing entry in the meantime.
      if storage.exchange(existing, for: merged) {
        entriesChanged(by: 0)
        return handle
      }
      merged.release()
      // SAFETY: `insert` takes over a retain beside that of the caller, or it is released here.
      guard let other = insert(entry.retain(), duplicates) else { return nil }
      entry.release()
      existing = other
    }
  }

  /// Adds an entry for `value`, which lives until it is removed or `owner`, if there is one, dies.
  ///
  /// - Parameters:
  ///   - willInsert: called with the handle before any invocation can find the entry.
  ///   - begin: called with the handle when every invocation finds the entry. It calls the function
  ///     that it gets, which tells those who observe the registry of the entry: they may use it.
  func add<Value>(
    _ value: Value, weakly owner: AnyObject?, mailbox: Mailbox?, origin: Origin = .unknown,
    willInsert: (EntryHandle) -> Void = { _ in },
    begin: (EntryHandle, _ report: () -> Void) -> Void = { _, report in report() }
  ) -> EntryHandle {
    // SAFETY: `insertUnreported` takes over this retain, because the policy allows every entry.
    let entry = Unmanaged.passRetained(
      Entry.make(value, owner: owner, mailbox: mailbox, origin: word(of: origin)))
    let handle = EntryHandle(entry, in: self)
    willInsert(handle)
    let watched = watched(entry)
    _ = insertUnreported(entry, .allow)
    begin(handle) { reportAddition(of: watched, 1) }
    return handle
  }

  /// Puts `entry` into the storage, after pruning if every slot is used. Takes over a retain of it
  /// if it is added.
  ///
  /// - Returns: the existing entry of the same delegate, if `entry` was not added.
  private func insert(_ entry: Unmanaged<Entry>, _ duplicates: DuplicatePolicy) -> Entry? {
    let watched = watched(entry)
    let (existing, difference) = insertUnreported(entry, duplicates)
    guard existing == nil else { return existing }
    reportAddition(of: watched, difference)
    return nil
  }

  /// `entry`, if it may be one of too many. The caller holds it, and is about to add it: another
  /// thread may remove and free it then.
  private func watched(_ entry: Unmanaged<Entry>) -> Entry? {
    // SAFETY: the caller holds the entry.
    isInspected ? entry.takeUnretainedValue() : nil
  }

  /// Tells the extras, and what watches for leaks, of an entry that was added.
  private func reportAddition(of watched: Entry?, _ difference: Int) {
    entriesChanged(by: difference)
    if let watched { warnIfLeaking(watched) }
  }

  /// As ``insert(_:_:)``, without telling those who observe the registry of the addition.
  ///
  /// - Returns: also the change of the number of entries.
  private func insertUnreported(
    _ entry: Unmanaged<Entry>, _ duplicates: DuplicatePolicy
  ) -> (existing: Entry?, difference: Int) {
    entriesExpected(by: 1)
    var insertion = insert(entry, duplicates, mayGrow: false)
    if case .full = insertion {
      prune()
      insertion = insert(entry, duplicates, mayGrow: true)
    }
    if case .exists(let existing) = insertion {
      entriesExpected(by: -1)
      return (existing, 0)
    }
    guard case .replaced = insertion else { return (nil, 1) }
    entriesExpected(by: -1)
    return (nil, 0)
  }

  /// Calls the storage: that of the default strategy directly, because a dynamic dispatch costs
  /// time here.
  @inline(__always)
  private func insert(
    _ entry: Unmanaged<Entry>, _ duplicates: DuplicatePolicy, mayGrow: Bool
  ) -> Insertion {
    // SAFETY: the registry keeps its storage.
    published?._withUnsafeGuaranteedRef {
      $0.insert(entry, duplicates: duplicates, mayGrow: mayGrow)
    } ?? storage.insert(entry, duplicates: duplicates, mayGrow: mayGrow)
  }

  /// Tells the extras of a change of the number of entries, outside of any lock.
  private func entriesChanged(by difference: Int) {
    // SAFETY: the registry keeps its extras.
    lazyExtras.unretained?._withUnsafeGuaranteedRef { $0.entriesChanged(by: difference) }
  }

  private func entriesExpected(by difference: Int) {
    // SAFETY: as above.
    lazyExtras.unretained?._withUnsafeGuaranteedRef { $0.entriesExpected(by: difference) }
  }

  /// Removes `entry`.
  ///
  /// - Returns: whether it was registered.
  @discardableResult
  func remove(_ entry: Entry) -> Bool {
    withExtendedLifetime(entry) { remove(.passUnretained(entry)) }
  }

  /// As above; the caller keeps at least the memory of `entry`.
  func remove(_ entry: Unmanaged<Entry>) -> Bool {
    // SAFETY: the registry keeps its storage.
    let isRemoved =
      published?._withUnsafeGuaranteedRef { $0.remove(entry) } ?? storage.remove(entry)
    guard isRemoved else { return false }
    entriesChanged(by: -1)
    return true
  }

  /// Removes every entry of `delegate`.
  ///
  /// - Returns: whether there was one.
  func remove<Value>(delegate: Value) -> Bool {
    guard let object = Entry.classInstance(delegate) else { return false }
    let (removed, current) = storage.removeAll(at: Entry.identity(of: object))
    if removed > 0 { entriesChanged(by: -removed) }
    // An object that removes itself in its `deinit` looks like a dead one.
    return current > 0 || removed > 0 && WeakReference.isDying(object)
  }

  func removeAll() {
    let removed = storage.removeAll()
    if removed > 0 { entriesChanged(by: -removed) }
  }

  /// The number of entries, including dead ones.
  var count: Int { storage.count }

  /// Whether `delegate` is registered.
  func contains<Value>(delegate: Value) -> Bool {
    guard let identity = Entry.identity(of: delegate) else { return false }
    return storage.contains(identity)
  }

  /// Removes the entries whose delegate is dead.
  ///
  /// Searches for them outside the lock: with portable weak references the search may make this
  /// thread the last owner of a delegate.
  ///
  /// - Parameter waiting: whether to wait for the lock of the storage if it is taken.
  /// - Returns: the number of removed entries.
  @discardableResult
  func prune(waiting: Bool = true) -> Int {
    var dead: ContiguousArray<Entry> = []
    forEachEntry { _, entry, _ in
      // SAFETY: the invocation holds the entry, so it can be retained.
      if entry.head.pointee.isDead { dead.append(entry.takeUnretainedValue()) }
      return true
    }
    guard !dead.isEmpty else { return 0 }
    let removed = storage.prune(dead, waiting: waiting)
    if removed > 0 { entriesChanged(by: -removed) }
    return removed
  }

  /// Prunes after an invocation met dead delegates, unless the lock is taken.
  @usableFromInline @inline(never)
  func pruneAfterInvocation() {
    prune(waiting: false)
  }

  /// The number of live entries, for a caller that must not retain one. With portable weak
  /// references it includes dead ones.
  var lockedLiveCount: Int { storage.lockedLiveCount }

  /// As ``snapshot()``, for a caller that must not free an entry which others remove meanwhile.
  func lockedSnapshot() -> ContiguousArray<Entry> { storage.lockedSnapshot() }

  /// The entries that are registered now, retained; `nil` where one was removed.
  @usableFromInline
  func snapshot() -> ContiguousArray<Entry?> {
    storage.snapshot()
  }
}
