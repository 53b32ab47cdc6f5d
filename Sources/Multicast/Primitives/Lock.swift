internal import CMulticast

/// A mutual-exclusion lock over `pthread_mutex_t`.
///
/// `Synchronization.Mutex` would be the natural choice, but on Linux it is a priority-inheritance
/// futex that convoys under contention, and the thread sanitizer reports false races on what it
/// guards. The platform's mutex has neither problem.
///
/// The lock is not recursive. A critical section never runs user code and never takes a second
/// lock: it computes and returns an action, which the caller runs after unlock.
struct Lock: ~Copyable, @unchecked Sendable {
  // Sendable: any thread may use a pthread mutex, and the pointer never changes.
  // SAFETY: POSIX requires one address from `init` to `deinit`. A stored property has no stable
  // address, so the mutex is allocated by hand.
  /// The address of the mutex; plus ``isShared`` if another lock owns it.
  private let word: UInt

  init() {
    let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    let error = pthread_mutex_init(mutex, nil)
    require(error == 0, "Multicast: pthread_mutex_init failed with error \(error)")
    word = UInt(bitPattern: mutex)
  }

  /// The same lock as `other`, which must live longer.
  init(sharing other: borrowing Lock) {
    word = other.word | Lock.isShared
  }

  deinit {
    guard word & Lock.isShared == 0 else { return }
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// A bit that is zero in the address of a mutex.
  private static var isShared: UInt { 1 }

  private var mutex: UnsafeMutablePointer<pthread_mutex_t> {
    // SAFETY: made from such a pointer.
    UnsafeMutablePointer(bitPattern: word & ~Lock.isShared).unsafelyUnwrapped
  }

  /// Runs `body` while the calling thread holds the lock.
  @inline(__always)
  borrowing func withLock<R>(_ body: () -> R) -> R {
    lock()
    let result = body()
    unlock()
    return result
  }

  /// Runs `body` as `withLock` does, and polls for a short time before it blocks the thread. For a
  /// lock that two threads take all the time: to block and to be woken takes much longer than a
  /// critical section.
  borrowing func withLockAfterPolling<R>(_ body: () -> R) -> R {
    if !tryLock(polls: Lock.polls) { lock() }
    defer { unlock() }
    return body()
  }

  /// - Returns: whether the thread has the lock now.
  private borrowing func tryLock(polls: Int) -> Bool {
    perturb()
    if pthread_mutex_trylock(mutex) == 0 { return true }
    for _ in 0..<polls {
      cmulticast_spin_pause()
      if pthread_mutex_trylock(mutex) == 0 { return true }
    }
    return false
  }

  /// Enough for a critical section of another thread that is running.
  private static var polls: Int { 100 }

  /// Runs `body` as `withLock` does if the lock is free; otherwise returns `nil`.
  borrowing func withLockIfAvailable<R>(_ body: () -> R) -> R? {
    guard pthread_mutex_trylock(mutex) == 0 else { return nil }
    defer { unlock() }
    return body()
  }

  @inline(__always)
  private borrowing func lock() {
    perturb()
    let error = pthread_mutex_lock(mutex)
    require(error == 0, "Multicast: pthread_mutex_lock failed with error \(error)")
    perturb()
  }

  @inline(__always)
  private borrowing func unlock() {
    perturb()
    let error = pthread_mutex_unlock(mutex)
    require(error == 0, "Multicast: pthread_mutex_unlock failed with error \(error)")
    perturb()
  }
}
