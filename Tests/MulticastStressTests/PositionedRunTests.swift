import Testing

@testable import MulticastStress

/// What the oracle for the positions of one subscriber accepts, and what it refuses.
@Suite struct PositionedRunTests {
  private func run(after start: UInt64, _ elements: PositionedRun.Element...) -> PositionedRun {
    var run = PositionedRun(after: start)
    for element in elements { run.receive(element) }
    return run
  }

  @Test func eachEventOnceOrTheRangeThatIsMissing() {
    let right = [
      run(after: 3), run(after: 3, .event(number: 4), .event(number: 5)),
      run(after: 3, .missed(after: 3, through: 7), .event(number: 8)),
      run(
        after: 0, .event(number: 1), .missed(after: 1, through: 2), .missed(after: 2, through: 9)),
    ]
    #expect(right.map(\.end) == [3, 5, 8, 9])
    for run in right { #expect(run.violation == nil) }
  }

  @Test func gapsDuplicatesAndWrongRangesAreRefused() {
    for wrong in [
      run(after: 3, .event(number: 5)), run(after: 3, .event(number: 3)),
      run(after: 3, .event(number: 4), .event(number: 4)),
      run(after: 3, .event(number: 5), .event(number: 4)),
      run(after: 3, .missed(after: 2, through: 7)), run(after: 3, .missed(after: 4, through: 7)),
      run(after: 3, .missed(after: 3, through: 3)),
      run(after: 3, .missed(after: 3, through: 7), .event(number: 9)),
      run(after: 3, .missed(after: 3, through: 7), .event(number: 7)),
    ] {
      #expect(wrong.violation != nil)
    }
  }
}
