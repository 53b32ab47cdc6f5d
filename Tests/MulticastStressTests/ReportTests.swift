import Foundation
import Multicast
import Testing

@testable import MulticastStress

/// What is printed, written and returned at the end of a run.
@Suite struct ReportTests {
  private func report(broken: [String] = []) throws -> Report {
    var report = Report(try Options(["--seed", "7", "--threads", "2"]))
    report.outcomes = [
      Outcome(
        scenario: "churn", storage: .locked, rounds: 10, operations: 1000, seconds: 0.5,
        brokenPromises: [], command: "multicast-stress --seed 7"),
      Outcome(
        scenario: "churn", storage: .waitFree, rounds: 20, operations: 3000, seconds: 0.5,
        brokenPromises: broken, command: "multicast-stress --seed 7"),
    ]
    report.seconds = 1
    return report
  }

  @Test func theTableHasAVerdictForEachStrategy() throws {
    let lines = try report(broken: ["it broke"]).table.split(separator: "\n").map {
      $0.split(separator: " ").map(String.init)
    }
    #expect(
      lines == [
        ["scenario", "locked", "waitFree", "rounds", "operations", "seconds", "operations/s"],
        ["churn", "held", "BROKEN", "30", "4,000", "1.0", "4,000"],
        ["total", "30", "4,000", "1.0", "4,000"],
      ])
  }

  @Test func theCommandRepeatsATrial() throws {
    let options = try Options([
      "--seed", "7", "--threads", "3", "--delegates", "5", "--mix", "1:2:3:4", "--rounds", "6",
    ])
    let trial = Trial(Churn.self, on: .barrierQueue, options, .rounds(6))
    let command = Report(options).command(for: trial)
    let repeated = try Options(command.split(separator: " ").dropFirst().map(String.init))
    var expected = options
    expected.scenarios = ["churn"]
    expected.strategies = [.barrierQueue]
    #expect(repeated == expected)
  }

  @Test func theStatusSaysWhetherAPromiseBroke() throws {
    #expect(try report().finish(writingTo: nil) == 0)
    #expect(try report(broken: ["it broke"]).finish(writingTo: nil) == 1)
  }

  @Test func theFileHasTheFiguresAndTheVerdict() throws {
    let path = FileManager.default.temporaryDirectory
      .appendingPathComponent("multicast-stress-\(UUID().uuidString).json").path
    defer { unlink(path) }
    #expect(try report(broken: ["it broke"]).finish(writingTo: ReportFile(path)) == 1)
    let data = try Data(contentsOf: URL(fileURLWithPath: path))
    let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    #expect(object["held"] as? Bool == false)
    #expect(object["seed"] as? Int == 7)
    #expect(object["operations"] as? Int == 4000)
    let trials = try #require(object["trials"] as? [[String: Any]])
    #expect(trials.map { $0["strategy"] as? String } == ["locked", "waitFree"])
    #expect(trials.last?["brokenPromises"] as? [String] == ["it broke"])
  }

  @Test func aFileThatCannotBeWrittenIsRefusedBeforeTheRun() {
    #expect(throws: OptionError.self) { try ReportFile("/nowhere/at/all.json") }
  }
}
