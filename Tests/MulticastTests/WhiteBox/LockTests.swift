import CMulticast
import Foundation
import MulticastTestSupport
import Testing

@testable import Multicast

@Suite("Lock")
struct LockTests {
  private final class Guarded: @unchecked Sendable {
    // Sendable: `count` is used only inside `lock`: that is what the tests check.
    let lock = Lock()
    var count = 0
    var reference: LockReference { LockReference(lock) }
  }

  @Test("one thread at a time is inside")
  func oneAtATime() {
    let guarded = Guarded()
    runThreads(4) { thread in
      for round in 0..<20_000 {
        switch (thread + round) % 3 {
        case 0: guarded.lock.withLock { guarded.count += 1 }
        case 1: guarded.lock.withLockAfterPolling { guarded.count += 1 }
        default: guarded.reference.withLock { guarded.count += 1 }
        }
      }
    }
    #expect(guarded.count == 80_000)
  }

  @Test("a thread that waits is woken, and its errno does not change")
  func waitingThreadsAreWoken() {
    let guarded = Guarded()
    let changes = Counter()
    // More threads than processors, which give up the processor inside: the others must wait.
    runThreads(8) { _ in
      for _ in 0..<500 {
        errno = 77
        guarded.lock.withLock {
          guarded.count += 1
          sched_yield()
        }
        if errno != 77 { changes.add() }
      }
    }
    #expect(guarded.count == 4_000)
    #expect(changes.value == 0)
  }

  @Test("a lock that is taken is not available")
  func availability() {
    let guarded = Guarded()
    let (inside, tried) = (Gate("inside"), Gate("tried"))
    runConcurrently {
      guarded.lock.withLock {
        inside.open()
        tried.wait()
      }
    } and: {
      inside.wait()
      #expect(guarded.lock.withLockIfAvailable { 1 } == nil)
      tried.open()
    }
    #expect(guarded.lock.withLockIfAvailable { 1 } == 1)
    // It was given back.
    #expect(guarded.lock.withLockIfAvailable { 2 } == 2)
  }

  @Test("a wait for a word that has changed, and a wake without a wait, do nothing")
  func emptyWaitAndWake() {
    var word: UInt32 = 1
    cmulticast_wait(&word, 2)
    cmulticast_wake_one(&word)
    #expect(word == 1)
  }

  @Test("a lock takes four bytes of its owner")
  func size() {
    #expect(MemoryLayout<Lock>.size == 4)
  }
}
