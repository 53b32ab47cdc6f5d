internal import CMulticast

/// A readers-writer lock over `pthread_rwlock_t`, for the `readerWriterLock` strategy alone.
struct ReaderWriterLock: ~Copyable, @unchecked Sendable {
  // Sendable and SAFETY: the lock is for any thread, and stays where it is until `deinit`. Only one
  // value has the pointer.
  private let handle: UnsafeMutablePointer<pthread_rwlock_t>

  init() {
    handle = .allocate(capacity: 1)
    handle.initialize(to: pthread_rwlock_t())
    #if canImport(Glibc)
      // By default, overlapping readers starve writers. The kind that prefers writers forbids
      // nested read locks, and this library never nests them.
      var attributes = pthread_rwlockattr_t()
      pthread_rwlockattr_init(&attributes)
      defer { pthread_rwlockattr_destroy(&attributes) }
      pthread_rwlockattr_setkind_np(
        &attributes, Int32(PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP))
      let error = pthread_rwlock_init(handle, &attributes)
    #else
      let error = pthread_rwlock_init(handle, nil)
    #endif
    require(error == 0, "Multicast: pthread_rwlock_init failed with error \(error)")
  }

  deinit {
    pthread_rwlock_destroy(handle)
    handle.deallocate()
  }

  /// Runs `body` concurrently with other readers, but not with a writer.
  borrowing func withReadLock<R>(_ body: () -> R) -> R {
    perturb()
    let error = pthread_rwlock_rdlock(handle)
    require(error == 0, "Multicast: pthread_rwlock_rdlock failed with error \(error)")
    perturb()
    defer {
      pthread_rwlock_unlock(handle)
      perturb()
    }
    return body()
  }

  /// Runs `body` exclusively.
  borrowing func withWriteLock<R>(_ body: () -> R) -> R {
    perturb()
    let error = pthread_rwlock_wrlock(handle)
    require(error == 0, "Multicast: pthread_rwlock_wrlock failed with error \(error)")
    perturb()
    defer {
      pthread_rwlock_unlock(handle)
      perturb()
    }
    return body()
  }

  /// Runs `body` exclusively if the lock is free; otherwise returns `nil`.
  borrowing func withWriteLockIfAvailable<R>(_ body: () -> R) -> R? {
    guard pthread_rwlock_trywrlock(handle) == 0 else { return nil }
    defer { pthread_rwlock_unlock(handle) }
    return body()
  }
}
