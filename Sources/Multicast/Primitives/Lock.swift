internal import CMulticast
internal import Synchronization

/// A mutual-exclusion lock in a word of its owner: no allocation, and calls only if a thread waits.
///
/// `Synchronization.Mutex` would be the natural choice, but on Linux it is a priority-inheritance
/// futex that convoys under contention, and the thread sanitizer reports false races on what it
/// guards. `pthread_mutex_t` has neither problem. It takes 40 bytes, at an address that a stored
/// property does not give, so it would double the size of a small hub.
///
/// The lock is neither recursive nor fair. A critical section never runs user code and never takes
/// a second lock: it computes and returns an action, which the caller runs after unlock.
struct Lock: ~Copyable, Sendable {
  // SAFETY: waiting threads are found by the address of the word. That never changes, because an
  // atomic value is never copied, and a lock is a property of an object or a global variable.
  let word = Atomic<UInt32>(Lock.free)

  init() {}

  static var free: UInt32 { 0 }
}

extension Lock {
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

  /// Runs `body` as `withLock` does if the lock is free; otherwise returns `nil`.
  borrowing func withLockIfAvailable<R>(_ body: () -> R) -> R? {
    guard tryLock() else { return nil }
    defer { unlock() }
    return body()
  }

  /// Enough for a critical section of another thread that is running.
  private static var polls: Int { 100 }

  @inline(__always)
  private borrowing func lock() {
    perturb()
    take()
    perturb()
  }

  @inline(__always)
  private borrowing func unlock() {
    perturb()
    // From now on another thread may destroy the owner.
    release()
    perturb()
  }

  /// - Returns: whether the thread has the lock now.
  private borrowing func tryLock(polls: Int) -> Bool {
    perturb()
    if tryLock() { return true }
    for _ in 0..<polls {
      cmulticast_spin_pause()
      // Relaxed: a guess, which the exchange checks.
      if word.load(ordering: .relaxed) == Lock.free && tryLock() { return true }
    }
    return false
  }
}

/// A lock of an object that its user keeps.
struct LockReference {
  // SAFETY: a word of an object has one address as long as the object lives: an atomic value is
  // never copied or moved.
  private let lock: UnsafePointer<Lock>

  init(_ lock: borrowing Lock) {
    self.lock = withUnsafePointer(to: lock) { $0 }
  }

  /// See ``Lock/withLock(_:)``.
  @inline(__always)
  func withLock<R>(_ body: () -> R) -> R { lock.pointee.withLock(body) }
}
