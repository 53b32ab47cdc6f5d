import MulticastTestSupport
import Synchronization
import Testing

@testable import Multicast

/// A noncopyable value that several threads can refer to. Its readers are counted.
private final class Shared: Sendable {
  private let reclaimer = Reclaimer()

  private var structure: UnsafeRawPointer {
    UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
  }

  func enter() -> ReadIndicator.Ticket {
    reclaimer.readers.enter(ThreadCallStack.current)
  }

  func leave(_ ticket: ReadIndicator.Ticket) { reclaimer.leaveCounted(structure, ticket) }

  func leaveWithoutCollecting(_ ticket: ReadIndicator.Ticket) { reclaimer.readers.leave(ticket) }

  func retire(_ object: AnyObject) { reclaimer.retire(object, of: structure) }
}

@Suite("Reclaimer")
struct ReclaimerTests {
  private let tracker = LifetimeTracker()

  private func retireOne(_ shared: Shared) {
    shared.retire(RecordingObserver(tracker: tracker))
  }

  @Test("without a reader it is destroyed at once")
  func withoutAReader() {
    let shared = Shared()
    for count in 1...10 {
      retireOne(shared)
      #expect(tracker.destroyed == count)
    }
    let ticket = shared.enter()
    shared.leave(ticket)
    retireOne(shared)
    #expect(tracker.live == 0)
  }

  @Test("it is destroyed exactly when the reader inside leaves", arguments: 0..<3)
  func whenTheReaderLeaves(earlier: Int) {
    let shared = Shared()
    // Whatever the phase is by then.
    for _ in 0..<earlier { retireOne(shared) }
    let ticket = shared.enter()
    retireOne(shared)
    retireOne(shared)
    #expect(tracker.live == 2)
    shared.leave(ticket)
    #expect(tracker.live == 0)
  }

  @Test("it outlives every reader that was inside, in whichever order they leave")
  func everyReaderThatWasInside() {
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [1, 0, 2]] {
      let shared = Shared()
      let tickets = (0..<3).map { _ in shared.enter() }
      retireOne(shared)
      for position in order {
        #expect(tracker.live == 1)
        shared.leave(tickets[position])
      }
      #expect(tracker.live == 0)
    }
  }

  @Test("readers that begin later do not keep it")
  func readersThatBeginLater() {
    let shared = Shared()
    let before = shared.enter()
    retireOne(shared)
    let after = shared.enter()
    #expect(tracker.live == 1)
    shared.leave(before)
    #expect(tracker.live == 0, "the reader inside has begun after it was retired")
    retireOne(shared)
    #expect(tracker.live == 1, "this one it may have seen")
    shared.leave(after)
    #expect(tracker.live == 0)
  }

  @Test("overlapping readers without end do not keep it either")
  func overlappingReaders() {
    let shared = Shared()
    var ticket = shared.enter()
    for _ in 0..<1_000 {
      retireOne(shared)
      let next = shared.enter()
      shared.leave(ticket)
      ticket = next
      // At most what was retired since the phase changed twice.
      #expect(tracker.live <= 3)
    }
    shared.leave(ticket)
    #expect(tracker.live == 0)
  }

  @Test("a reader that never ends keeps what it may have seen, and nothing leaks")
  func aReaderThatStays() {
    let shared = Shared()
    let ticket = shared.enter()
    for count in 1...500 {
      retireOne(shared)
      #expect(tracker.live == count)
      // Others come and go, here and on other threads.
      shared.leave(shared.enter())
    }
    runThreads(1) { _ in shared.leave(shared.enter()) }
    #expect(tracker.destroyed == 0)
    shared.leave(ticket)
    #expect(tracker.live == 0)
  }

  @Test("what is retired by a deinit that the reclaimer runs is destroyed too")
  func retiredByADeinit() {
    let shared = Shared()
    let tracker = tracker
    let ticket = shared.enter()
    shared.retire(
      ActingObserver(
        tracker: tracker,
        onDeinit: { shared.retire(RecordingObserver(tracker: tracker)) }))
    shared.leave(ticket)
    #expect(tracker.created == 2)
    #expect(tracker.live == 0)
  }

  @Test("the end of the structure destroys what is left")
  func endOfTheStructure() {
    do {
      let shared = Shared()
      let ticket = shared.enter()
      for _ in 0..<10 { retireOne(shared) }
      #expect(tracker.live == 10)
      shared.leaveWithoutCollecting(ticket)  // Without collecting.
      #expect(tracker.live == 10)
    }
    #expect(tracker.live == 0)
  }

  @Test("a long list is destroyed without exhausting the stack")
  func aLongList() {
    let shared = Shared()
    let ticket = shared.enter()
    for _ in 0..<100_000 { retireOne(shared) }
    shared.leave(ticket)
    #expect(tracker.created == 100_000)
    #expect(tracker.live == 0)
  }

  @Test("readers never see what was destroyed, and at the end nothing is left")
  func readersAgainstWriters() {
    let shared = Shared()
    let tracker = tracker
    let pointer = Atomic<Unmanaged<RecordingObserver>>(
      .passRetained(RecordingObserver(tracker: tracker)))
    let finished = Atomic<Int>(0)
    let writes = 3_000
    runThreads(4) { index in
      if index < 2 {
        for _ in 0..<writes {
          let new = Unmanaged.passRetained(RecordingObserver(tracker: tracker))
          let old = pointer.exchange(new, ordering: .sequentiallyConsistent).takeRetainedValue()
          shared.retire(old)
        }
        finished.add(1, ordering: .releasing)
      } else {
        while finished.load(ordering: .acquiring) < 2 {
          let ticket = shared.enter()
          // It traps if the object is gone.
          pointer.load(ordering: .sequentiallyConsistent)._withUnsafeGuaranteedRef {
            $0.receive(1)
          }
          shared.leave(ticket)
        }
      }
    }
    #expect(tracker.live == 1, "all have left, so all that was retired is destroyed")
    pointer.load(ordering: .relaxed).release()
    #expect(tracker.created == 2 * writes + 1)
    #expect(tracker.live == 0)
  }
}
