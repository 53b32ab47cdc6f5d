import MulticastTestSupport
import Testing

@testable import Multicast

@Suite("StateCell")
struct StateCellTests {
  @Test("a thread that reads the state meanwhile waits for that change, and for no later one")
  func readsBetweenFolds() {
    let lifetimes = LifetimeTracker()
    // A reader that woke and then read the state itself could, in one round, do so before the
    // second change begins.
    let rounds = 100
    for round in 0..<rounds {
      guard isReadBetweenFolds(lifetimes) else {
        Issue.record("in round \(round) a reader waited for the second change")
        return
      }
    }
    #expect(lifetimes.created == 3 * rounds && lifetimes.live == 0)
  }

  private final class Token: Sendable {
    let number: UInt64
    private let lifetimes: LifetimeTracker

    init(_ number: UInt64, _ lifetimes: LifetimeTracker) {
      (self.number, self.lifetimes) = (number, lifetimes)
      lifetimes.noteCreation()
    }

    deinit { lifetimes.noteDestruction() }
  }

  /// Whether a thread that waits for a change has the state before the end of the next change,
  /// which begins at once.
  private func isReadBetweenFolds(_ lifetimes: LifetimeTracker) -> Bool {
    let cell = StateCell(Token(0, lifetimes), name: nil)
    let (folding, hasRead, inTime) = (Gate("folding"), Gate("has read"), Guarded(false))
    let reader = RunningThread {
      folding.wait()
      let (state, version) = cell.snapshot()
      #expect(state.number == version)
      hasRead.open()
    }
    cell.fold(1) { state in
      folding.open()
      yield { cell.sleeperCount == 1 }
      state = Token(1, lifetimes)
    }
    cell.fold(2) { state in
      inTime.withLock { $0 = hasRead.opens(within: 10) }
      state = Token(2, lifetimes)
    }
    reader.join()
    #expect(cell.snapshot().version == 2 && cell.sleeperCount == 0)
    return inTime.withLock { $0 }
  }
}
