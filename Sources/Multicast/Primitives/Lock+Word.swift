// How threads take the word of a lock, and wait for it.
//
//     free ────────lock────────▶ taken ──unlock──▶ free
//       │                          │
//       │                          │ a thread must wait
//       │                          ▼
//       └──lock after a wait──▶ contended ──unlock──▶ free, and one waiting thread is woken
//
// The word is `contended` if the lock is taken and threads may wait for it. A thread that must wait
// first makes the word `contended`, and then waits in the kernel, which checks that the word still
// is. A thread that was woken does not know whether others wait too, so it takes the lock as
// `contended`. See Drepper, "Futexes Are Tricky", 2011, and Tests/Model/Lock.pml. On Apple's
// platforms the word is an `os_unfair_lock`, whose waiting threads pass their priority on.

internal import CMulticast
internal import Synchronization

#if canImport(Darwin)

  extension Lock {
    borrowing func take() {
      withUnsafePointer(to: word) { cmulticast_lock($0) }
    }

    borrowing func tryLock() -> Bool {
      withUnsafePointer(to: word) { cmulticast_try_lock($0) }
    }

    borrowing func release() {
      withUnsafePointer(to: word) { cmulticast_unlock($0) }
    }
  }

#else

  extension Lock {
    private static var taken: UInt32 { 1 }
    private static var contended: UInt32 { 2 }

    @inline(__always)
    borrowing func take() {
      if !tryLock() { takeContended() }
    }

    @inline(__always)
    borrowing func tryLock() -> Bool {
      // Acquiring: pairs with the release.
      word.compareExchange(expected: Lock.free, desired: Lock.taken, ordering: .acquiring).exchanged
    }

    @inline(never)
    private borrowing func takeContended() {
      // Acquiring: pairs with the release.
      while word.exchange(Lock.contended, ordering: .acquiring) != Lock.free {
        perturb()
        withUnsafePointer(to: word) { cmulticast_wait($0, Lock.contended) }
      }
    }

    @inline(__always)
    borrowing func release() {
      // Releasing: pairs with the next lock.
      let old = word.exchange(Lock.free, ordering: .releasing)
      if old == Lock.contended { wakeOne() }
    }

    @inline(never)
    private borrowing func wakeOne() {
      // SAFETY: an address that is not used any more is no error, and wakes at worst a thread that
      // checks its own word.
      withUnsafePointer(to: word) { cmulticast_wake_one($0) }
    }
  }

#endif
