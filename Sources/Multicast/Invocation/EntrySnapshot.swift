/// The entries that were registered at one moment, in order, each with a retain.
///
/// ## Thread safety
/// It never changes.
@usableFromInline
final class EntrySnapshot: @unchecked Sendable {
  // Sendable: immutable, and an entry may be used by many threads.

  // SAFETY: `count` initialised references, each owning a retain, until `deinit`.
  @usableFromInline let entries: UnsafeMutablePointer<Unmanaged<Entry>>
  @usableFromInline let count: Int
  /// Whether the calls of an entry are measured.
  @usableFromInline let isMeasured: Bool

  fileprivate init(_ slots: ContiguousArray<Entry?>) {
    entries = .allocate(capacity: slots.count)
    var count = 0
    var isMeasured = false
    for case let entry? in slots {
      (entries + count).initialize(to: .passRetained(entry))
      if entry.head.pointee.timer != nil { isMeasured = true }
      count += 1
    }
    self.isMeasured = isMeasured
    self.count = count
  }

  deinit {
    // SAFETY: this was the last reference to the snapshot; each entry is released once.
    for index in 0..<count { entries[index].release() }
    entries.deallocate()
  }
}

/// Keeps the latest snapshot until the registry changes.
///
/// An invocation that awaits its delegates needs every entry retained, since a read section belongs
/// to a thread. Retaining a hundred entries costs as much as calling them; with a cached snapshot,
/// one retain is enough.
///
/// ## Thread safety
/// Every operation may be called from any thread, but never inside a critical section.
final class SnapshotCache: @unchecked Sendable {
  // Sendable: `snapshot` and `version` are used only inside `lock`.

  /// Guards `snapshot` and `version`. No user code runs inside, and nothing is destroyed.
  private let lock = Lock()
  private var snapshot: EntrySnapshot?
  /// The number of changes.
  private var version = 0
}

extension SnapshotCache {
  /// The registered entries.
  ///
  /// - Complexity: O(1), and O(`count`) for the first call after a change.
  func snapshot(of registry: Registry) -> EntrySnapshot {
    let (cached, version) = lock.withLock { (snapshot, self.version) }
    if let cached { return cached }
    // Made after the version was read, so it includes at least the changes of that version.
    let new = EntrySnapshot(registry.snapshot())
    let replaced = lock.withLock { () -> EntrySnapshot? in
      guard self.version == version else { return nil }
      let replaced = snapshot
      snapshot = new
      return replaced
    }
    withExtendedLifetime(replaced) {}  // Destroyed here, outside the lock.
    return new
  }

  /// Discards the snapshot, after a change and before the caller of the change returns.
  func invalidate() {
    let old = lock.withLock {
      let old = snapshot
      snapshot = nil
      version += 1
      return old
    }
    withExtendedLifetime(old) {}  // Destroyed here, outside the lock.
  }
}
