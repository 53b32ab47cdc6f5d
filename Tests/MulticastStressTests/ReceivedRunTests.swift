import Testing

@testable import MulticastStress

/// What the oracle for one sender's numbers accepts, and what it refuses.
@Suite struct ReceivedRunTests {
  private typealias Progress = ReceivedRun.Progress

  private func run(_ numbers: Int...) -> ReceivedRun {
    var run = ReceivedRun()
    for number in numbers { run.receive(number) }
    return run
  }

  @Test func whoIsThereThroughoutGetsEverything() {
    let all = Progress(begun: 3, completed: 3)
    #expect(run(1, 2, 3).violation(added: Progress(), removed: all) == nil)
    for wrong in [run(1, 3), run(1, 2), run(2, 3), run(), run(1, 2, 3, 3), run(2, 1, 3)] {
      #expect(wrong.violation(added: Progress(), removed: all) != nil)
    }
    #expect(run(1, 2, 3, 4).violation(added: Progress(), removed: all) != nil)
  }

  @Test func whatIsSentDuringTheAdditionAndTheRemovalMayCome() {
    let added = Progress(begun: 4, completed: 2)
    let removed = Progress(begun: 8, completed: 6)
    for allowed in [run(3, 4, 5, 6), run(5, 6), run(4, 5, 6, 7, 8)] {
      #expect(allowed.violation(added: added, removed: removed) == nil)
    }
    for wrong in [run(2, 3, 4, 5, 6), run(6), run(5), run(5, 6, 7, 8, 9), run()] {
      #expect(wrong.violation(added: added, removed: removed) != nil)
    }
  }

  @Test func nothingNeedComeIfNothingWasSentInBetween() {
    let moment = Progress(begun: 5, completed: 5)
    #expect(run().violation(added: moment, removed: moment) == nil)
    #expect(run(5).violation(added: moment, removed: moment) != nil)
    #expect(run(6).violation(added: moment, removed: moment) != nil)
  }
}
