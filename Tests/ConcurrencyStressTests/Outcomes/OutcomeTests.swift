import Foundation
import Synchronization
import Testing

@testable import ConcurrencyStress

/// A number that is read and written separately.
private final class Cell: Sendable {
  private let number = Atomic<Int>(0)

  func increment() {
    number.store(number.load(ordering: .relaxed) + 1, ordering: .relaxed)
  }

  func incrementAtOnce() { number.add(1, ordering: .relaxed) }

  var value: Int { number.load(ordering: .relaxed) }
}

@Suite(.serialized) struct OutcomeTests {
  @Test func aForbiddenOutcomeIsFoundWithATable() throws {
    let test = OutcomeTest(
      { Cell() },
      actors: [
        { cell in for _ in 0..<20 { cell.increment() } },
        { cell in for _ in 0..<20 { cell.increment() } },
      ],
      outcome: { $0.value == 40 },
      expected: [true: .accepted("both count"), false: .forbidden("an increment is lost")])
    let table = test.run(seconds: 600)
    #expect(!table.held)
    #expect(table.rounds == table.counts.values.reduce(0, +))
    let lines = "\(table)".split(separator: "\n")
    #expect(lines.count == 3)
    #expect(lines[2].hasPrefix("false") && lines[2].hasSuffix("FORBIDDEN   an increment is lost"))
    let error = #expect(throws: StressFailure.self) { try test.check(seconds: 600) }
    #expect(error?.description.contains("a forbidden outcome came (seed ") == true)
  }

  @Test func slowActorsDoNotExceedTheTime() throws {
    let test = OutcomeTest(
      // An actor that takes long.
      { 0 }, actors: [{ _ in usleep(20_000) }, { _ in }], outcome: { $0 },
      expected: [0: .accepted()])
    #expect((1..<500).contains(test.run(seconds: 0.1).rounds))
    #expect(test.run(rounds: 7).rounds == 7)
    let program = StressProgram(
      "slow-stress", summary: "Waits.",
      scenarios: [test.scenario("slow", promise: "a round takes about a second")])
    let trial = Trial(
      program.scenarios[0], try StressOptions([], for: program), .rounds(1))
    program.scenarios[0].run(trial)
    #expect(trial.rounds == 1 && (2..<400).contains(trial.operations))
  }

  @Test func everyRoundHasOneOutcome() throws {
    let test = OutcomeTest(
      { Cell() },
      actors: [{ $0.incrementAtOnce() }, { $0.incrementAtOnce() }, { $0.incrementAtOnce() }],
      outcome: { $0.value }, expected: [3: .accepted()])
    let table = test.run(rounds: 1_234, seed: 1)
    #expect(table.held)
    #expect(table.counts == [3: 1_234])
  }

  @Test func anOutcomeThatIsNotListedIsForbidden() {
    let test = OutcomeTest(
      { Cell() }, actors: [{ _ in }, { $0.incrementAtOnce() }], outcome: { $0.value },
      expected: [0: .accepted(), 2: .interesting("twice")])
    let table = test.run(rounds: 10)
    #expect(!table.held)
    #expect(table.expectation(of: 1) == .forbidden("not listed"))
    #expect("\(table)".contains("1         10      100 %   FORBIDDEN     not listed"))
  }

  @Test func interestingOutcomesHold() {
    let test = OutcomeTest(
      { Cell() }, actors: [{ _ in }, { $0.incrementAtOnce() }], outcome: { $0.value },
      expected: [1: .interesting("seen")])
    #expect(test.run(rounds: 10).held)
  }
}
