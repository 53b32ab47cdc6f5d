/// The entries of one hub, behind the storage strategy it was created with.
///
/// The faces of this library (`MulticastDelegate` and its siblings) are typed views of a registry.
/// The registry is not generic: only ``visit(_:_:)`` knows the type of what it calls.
///
/// ## Thread safety
/// Every operation may be called from any thread, also from inside a callback and from a `deinit`.
@usableFromInline
final class Registry: Sendable {
  let storage: any EntryStorage
  let strategy: StorageStrategy
  let duplicates: DuplicatePolicy
  /// The published slots if the strategy is `waitFree`: the fast path of ``visit(_:_:)``.
  @usableFromInline let published: PublishedSlots?

  init(strategy: StorageStrategy, duplicates: DuplicatePolicy) {
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
      (storage, published) = (waitFree, waitFree.slots)
    }
  }
}

// MARK: - Changes

extension Registry {
  /// Adds an entry for `delegate`, as the policy for duplicates says.
  ///
  /// - Returns: the registration of the new entry, or that of the one that exists.
  func add<Value>(_ delegate: Value, ownership: Ownership) -> Registration {
    let entry = Entry.make(delegate, ownership: ownership)
    var insertion = storage.insert(entry, duplicates: duplicates, mayGrow: false)
    if case .full = insertion {
      prune()
      insertion = storage.insert(entry, duplicates: duplicates, mayGrow: true)
    }
    if case .exists(let existing) = insertion {
      return Registration(existing, in: self)
    }
    return Registration(entry, in: self)
  }

  /// Removes `entry`.
  ///
  /// - Returns: whether it was registered.
  @discardableResult
  func remove(_ entry: Entry) -> Bool {
    storage.remove(entry)
  }

  /// Removes every entry of `delegate`.
  ///
  /// - Returns: whether there was one.
  func remove<Value>(delegate: Value) -> Bool {
    guard let identity = Entry.identity(of: delegate) else { return false }
    return storage.removeAll(at: identity)
  }

  func removeAll() {
    storage.removeAll()
  }

  /// Whether `delegate` is registered.
  func contains<Value>(delegate: Value) -> Bool {
    guard let identity = Entry.identity(of: delegate) else { return false }
    return storage.contains(identity)
  }

  /// Removes the entries whose delegate is gone.
  ///
  /// The dead are looked for outside the lock, because looking may make this thread the last owner of a
  /// delegate.
  ///
  /// - Parameter waiting: whether to wait for the lock of the storage if it is taken.
  /// - Returns: how many were removed.
  @discardableResult
  func prune(waiting: Bool = true) -> Int {
    var dead: ContiguousArray<Entry> = []
    for case let entry? in storage.snapshot() where entry.isDead { dead.append(entry) }
    return dead.isEmpty ? 0 : storage.prune(dead, waiting: waiting)
  }

  /// What an invocation does that came across the dead: it prunes, unless somebody is busy.
  @usableFromInline @inline(never)
  func pruneAfterVisit() {
    prune(waiting: false)
  }

  @usableFromInline
  func snapshot() -> ContiguousArray<Entry?> {
    storage.snapshot()
  }
}
