import CMulticast
import MulticastTestSupport
import Synchronization
import Testing

@testable import Multicast

/// A structure whose readers are biased if it is read often and seldom changed.
private final class Structure: Sendable {
  let reclaimer = Reclaimer()

  /// A read section that has begun on the calling thread.
  struct Section {
    let frame: UnsafeMutablePointer<ThreadCallStack.Frame>
    let ticket: ReadIndicator.Ticket?

    var isCounted: Bool { ticket != nil }
  }

  private var address: UnsafeRawPointer {
    UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
  }

  var mode: UInt8 { reclaimer.mode.load(ordering: .relaxed) }

  func enter() -> Section {
    let thread = ThreadCallStack.current
    let frame = thread.pointee.top
    thread.pointee.top = frame + 1
    let ticket = reclaimer.enter(
      address, thread, frame, isFence: lightBarrierIsFence)
    return Section(frame: frame, ticket: ticket)
  }

  func leave(_ section: Section) {
    ThreadCallStack.current.pointee.top = section.frame
    reclaimer.leave(address, section.frame, section.ticket)
  }

  func read() { leave(enter()) }

  func retire(_ object: AnyObject) { reclaimer.retire(object, of: address) }

  /// Reads until the structure is biased.
  func makeBiased() {
    while mode != Reclaimer.biased { read() }
  }
}

@Suite("Biased readers", .enabled(if: !lightBarrierIsFence), .timeLimit(.minutes(10)))
struct BiasTests {
  private let tracker = LifetimeTracker()
  private let structure = Structure()

  private func retireOne() {
    structure.retire(RecordingObserver(tracker: tracker))
  }

  @Test("a structure that is read often is biased, and its readers are not counted")
  func becomesBiased() {
    let first = structure.enter()
    #expect(first.isCounted, "one that is seldom read never pays for a revocation")
    structure.leave(first)
    for _ in 0..<Reclaimer.sectionsBetweenChecks { structure.read() }
    #expect(structure.mode == Reclaimer.biased)
    let section = structure.enter()
    #expect(!section.isCounted)
    structure.leave(section)
  }

  @Test("a revocation makes one heavy barrier, and later removals make none")
  func oneBarrier() {
    // The count is that of the process: other tests only make it higher.
    var fewest = Int.max
    for round in 0..<300 where round < 20 || fewest > 1 {
      structure.makeBiased()
      let before = cmulticast_barrier_count()
      for _ in 0..<10 { retireOne() }
      fewest = min(fewest, Int(cmulticast_barrier_count() - before))
    }
    #expect(fewest == 1)
    #expect(tracker.live == 0)
  }

  @Test("without a reader it is destroyed at once, also where readers were biased")
  func withoutAReader() {
    structure.makeBiased()
    for count in 1...3 {
      retireOne()
      #expect(tracker.destroyed == count)
      #expect(structure.mode == Reclaimer.counted)
    }
  }

  @Test("it is destroyed exactly when the biased reader inside leaves")
  func whenTheReaderLeaves() {
    structure.makeBiased()
    let section = structure.enter()
    retireOne()
    #expect(structure.mode == Reclaimer.revoked)
    retireOne()
    #expect(tracker.live == 2)
    structure.leave(section)
    #expect(tracker.live == 0)
    #expect(structure.mode == Reclaimer.counted)
    let next = structure.enter()
    #expect(next.isCounted)
    structure.leave(next)
  }

  @Test("biased and counted readers inside: the last one destroys it")
  func mixedReaders() {
    structure.makeBiased()
    let biased = structure.enter()
    retireOne()
    let counted = structure.enter()
    #expect(counted.isCounted)
    retireOne()
    structure.leave(counted)
    #expect(tracker.live == 2, "the biased reader may hold both")
    structure.leave(biased)
    #expect(tracker.live == 0)
  }

  @Test("a biased reader on another thread keeps what it may have found")
  func onAnotherThread() {
    structure.makeBiased()
    let isInside = Gate()
    let mayLeave = Gate()
    runThreads(2) { index in
      if index == 0 {
        let section = structure.enter()
        #expect(!section.isCounted)
        isInside.open()
        mayLeave.wait()
        structure.leave(section)
        #expect(tracker.live == 0, "the reader that leaves destroys it")
      } else {
        isInside.wait()
        retireOne()
        #expect(tracker.live == 1)
        mayLeave.open()
      }
    }
    #expect(tracker.created == 1)
  }

  @Test("a structure is not biased again before it was quiet")
  func quietFirst() {
    structure.makeBiased()
    retireOne()
    // The first check finds that something was retired.
    for _ in 0..<Reclaimer.sectionsBetweenChecks { structure.read() }
    #expect(structure.mode == Reclaimer.quiet)
    retireOne()
    #expect(structure.mode == Reclaimer.counted, "retiring begins the time anew")
    structure.makeBiased()
    #expect(tracker.live == 0)
  }

  @Test("readers never see what was destroyed, however often the bias is revoked")
  func readersAgainstWriters() {
    let pointer = Atomic<Unmanaged<RecordingObserver>>(
      .passRetained(RecordingObserver(tracker: tracker)))
    let finished = Atomic<Bool>(false)
    let writes = 2_000
    let revocations = Atomic<Int>(0)
    runThreads(4) { index in
      if index == 0 {
        for write in 0..<writes {
          // Every few writes, until the readers have made it biased.
          if write.isMultiple(of: 20) { structure.makeBiased() }
          if structure.mode == Reclaimer.biased { revocations.add(1, ordering: .relaxed) }
          let new = Unmanaged.passRetained(RecordingObserver(tracker: tracker))
          structure.retire(
            pointer.exchange(new, ordering: .sequentiallyConsistent).takeRetainedValue())
        }
        finished.store(true, ordering: .releasing)
      } else {
        while !finished.load(ordering: .acquiring) {
          let section = structure.enter()
          // It traps if the object is gone.
          pointer.load(ordering: .sequentiallyConsistent)._withUnsafeGuaranteedRef {
            $0.receive(1)
          }
          structure.leave(section)
        }
      }
    }
    #expect(revocations.load(ordering: .relaxed) >= writes / 20)
    #expect(tracker.live == 1, "all have left, so all that was retired is destroyed")
    pointer.load(ordering: .relaxed).release()
    #expect(tracker.created == writes + 1)
    #expect(tracker.live == 0)
  }

  @Test("removals destroy at once between invocations, which are biased in the meantime")
  func removalOfADelegate() {
    let hub = MulticastDelegate<any Observing>()
    for round in 1...5 {
      var delegate: RecordingObserver? = RecordingObserver(tracker: tracker)
      let registration = hub.add(delegate!, ownership: .strong)
      delegate = nil
      for _ in 0..<1_000 { hub.forEach { $0.receive(round) } }
      #expect(tracker.live == 1)
      registration.cancel()
      #expect(tracker.live == 0)
    }
    #expect(tracker.created == 5)
  }
}

private let lightBarrierIsFence: Bool = {
  let invocation = Invocation(ThreadCallStack.current)
  invocation.end()
  return invocation.lightBarrierIsFence
}()
