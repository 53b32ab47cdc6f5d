/// The entries that were registered at one moment, in order, with a retain each.
///
/// ## Thread safety
/// It never changes.
@usableFromInline
final class EntrySnapshot: @unchecked Sendable {
  // Sendable: immutable, and an entry may be used by many threads.

  // SAFETY: `count` initialised references, each of which owns a retain, until `deinit`.
  @usableFromInline let entries: UnsafeMutablePointer<Unmanaged<Entry>>
  @usableFromInline let count: Int

  fileprivate init(_ places: ContiguousArray<Entry?>) {
    entries = .allocate(capacity: places.count)
    var count = 0
    for case let entry? in places {
      (entries + count).initialize(to: .passRetained(entry))
      count += 1
    }
    self.count = count
  }

  deinit {
    // SAFETY: nobody has the snapshot any more; each reference is given back once.
    for index in 0..<count { entries[index].release() }
    entries.deallocate()
  }
}

/// Keeps the snapshot that was made last until something changes.
///
/// An invocation that awaits its delegates needs every entry retained, since a read section belongs
/// to a thread. To retain a hundred entries costs as much as to call them; while nothing is added
/// or removed, one retain of the snapshot does.
///
/// ## Thread safety
/// Every operation may be called from any thread, but never inside a critical section.
final class SnapshotCache: @unchecked Sendable {
  // Sendable: `snapshot` and `version` are touched inside `lock` alone.

  /// Held for a few instructions. No user code runs inside, and nothing is destroyed.
  private let lock = Lock()
  private var snapshot: EntrySnapshot?
  /// How often something has changed.
  private var version = 0
}

extension SnapshotCache {
  /// The entries that are registered now.
  ///
  /// - Complexity: O(1), and O(`count`) for the first call after a change.
  func snapshot(of registry: Registry) -> EntrySnapshot {
    let (cached, version) = lock.withLock { (snapshot, self.version) }
    if let cached { return cached }
    // After the version was read, so it holds at least the changes of that version.
    let new = EntrySnapshot(registry.snapshot())
    let replaced = lock.withLock { () -> EntrySnapshot? in
      guard self.version == version else { return nil }
      let replaced = snapshot
      snapshot = new
      return replaced
    }
    withExtendedLifetime(replaced) {}  // It dies here, outside the lock.
    return new
  }

  /// Something has changed, and whoever changed it has not returned yet.
  func invalidate() {
    let old = lock.withLock {
      let old = snapshot
      snapshot = nil
      version += 1
      return old
    }
    withExtendedLifetime(old) {}  // It dies here, outside the lock.
  }
}
