import MulticastTestSupport
import Synchronization
import Testing

@testable import Multicast

/// A noncopyable value that several threads can refer to.
private final class Shared: @unchecked Sendable {
  // Sendable: every operation of the counters may be called from any thread.
  private let counters = ReadIndicator()

  var base: UnsafeMutableRawPointer? { counters.current.load(ordering: .relaxed) }

  func enter() -> ReadIndicator.Ticket { counters.enter(ThreadCallStack.current) }

  /// As after a compare-and-swap that has failed: counts one more reader in at `ticket`.
  func enterContended(_ ticket: ReadIndicator.Ticket) {
    counters.enterContended(ThreadCallStack.current, ticket, base!)
  }

  func leave(_ ticket: ReadIndicator.Ticket) { counters.leave(ticket) }

  func isDraining(_ ticket: ReadIndicator.Ticket) -> Bool { counters.isDraining(ticket) }

  func isDrained() -> Bool { counters.isDrained() }

  func flip() { counters.flip() }
}

@Suite("ReadIndicator")
struct ReadIndicatorTests {
  @Test("drained means that no reader is left in the column that is not current")
  func drainedAndFlip() {
    let shared = Shared()
    #expect(shared.isDrained())
    let first = shared.enter()
    #expect(shared.isDrained(), "new readers are in the other column")
    #expect(!shared.isDraining(first))
    shared.flip()
    #expect(!shared.isDrained())
    #expect(shared.isDraining(first))
    let second = shared.enter()
    #expect(second != first)
    #expect(!shared.isDraining(second))
    shared.leave(first)
    #expect(shared.isDrained(), "the second reader is in the column in use")
    shared.flip()
    #expect(!shared.isDrained())
    shared.leave(second)
    #expect(shared.isDrained())
    shared.flip()
    #expect(shared.isDrained())
  }

  @Test("several readers in one column are counted each")
  func severalReaders() {
    let shared = Shared()
    let tickets = (0..<5).map { _ in shared.enter() }
    shared.flip()
    for ticket in tickets {
      #expect(!shared.isDrained())
      shared.leave(ticket)
    }
    #expect(shared.isDrained())
  }

  @Test("the counters grow once under contention, and miss no reader")
  func growthUnderContention() {
    let shared = Shared()
    #expect(shared.base == nil, "no counter before the first reader")
    let inside = shared.enter()
    let small = shared.base
    #expect(small != nil)
    shared.enterContended(inside)
    let large = shared.base
    #expect(large != small)
    let later = shared.enter()
    #expect(later != inside)
    shared.enterContended(later)
    #expect(shared.base == large, "once")
    shared.flip()
    // Two in each counter.
    for ticket in [inside, later, inside, later] {
      #expect(!shared.isDrained())
      shared.leave(ticket)
    }
    #expect(shared.isDrained())
    shared.flip()
    #expect(shared.isDrained())
  }

  @Test("many threads enter and leave, and in the end no reader is inside")
  func manyThreads() {
    let shared = Shared()
    let barrier = StartBarrier(4)
    runThreads(4) { index in
      barrier.arriveAndWait()
      for round in 0..<20_000 {
        let ticket = shared.enter()
        // One thread flips, as the holder of the role does.
        if index == 0 && round.isMultiple(of: 16) { shared.flip() }
        shared.leave(ticket)
      }
    }
    for _ in 0..<2 {
      #expect(shared.isDrained())
      shared.flip()
    }
  }
}
