import Testing

@testable import FanOutLoad

@Suite struct SequenceCheckTests {
  private func check(_ received: [Int]) -> SequenceCheck {
    var check = SequenceCheck()
    for sequence in received { _ = check.receive(sequence) }
    return check
  }

  @Test func everyEventOnceAndInOrderIsRight() {
    let check = check([0, 1, 2, 3])
    #expect(check.missing(of: 4) == 0)
    #expect(check.repeated == 0)
  }

  @Test func gapsAreCountedInTheMiddleAtTheStartAndAtTheEnd() {
    #expect(check([0, 3, 4]).missing(of: 5) == 2)
    #expect(check([2, 3]).missing(of: 4) == 2)
    #expect(check([0, 1]).missing(of: 7) == 5)
    #expect(check([]).missing(of: 3) == 3)
  }

  @Test func repeatedAndLateEventsAreCounted() {
    #expect(check([0, 1, 1, 2]).repeated == 1)
    let late = check([0, 2, 1, 3])
    #expect(late.repeated == 1)
    #expect(late.missing(of: 4) == 1)
  }
}
