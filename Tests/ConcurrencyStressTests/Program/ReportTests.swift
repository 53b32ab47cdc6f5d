import Foundation
import Testing

@testable import ConcurrencyStress

/// What is printed, written and returned at the end of a run.
@Suite struct ReportTests {
  private func report(broken: [String] = []) throws -> StressReport {
    let options = try StressOptions(["--seed", "7", "--threads", "2"], for: countingProgram)
    var report = StressReport(countingProgram, options)
    report.add(
      TrialResult(
        scenario: "counting", variant: "first", rounds: 10, operations: 1000, seconds: 0.5,
        brokenPromises: [], command: "count-stress --seed 7"))
    report.add(
      TrialResult(
        scenario: "counting", variant: "second", rounds: 20, operations: 3000, seconds: 0.5,
        brokenPromises: broken, command: "count-stress --seed 7"))
    report.seconds = 1
    return report
  }

  @Test func theTableHasAVerdictForEachVariant() throws {
    let lines = try report(broken: ["it broke"]).table.split(separator: "\n").map {
      $0.split(separator: " ").map(String.init)
    }
    #expect(
      lines == [
        ["scenario", "first", "second", "rounds", "operations", "seconds", "operations/s"],
        ["counting", "held", "BROKEN", "30", "4,000", "1.0", "4,000"],
        ["total", "30", "4,000", "1.0", "4,000"],
      ])
  }

  @Test func aRunPrintsNoOtherSeedThanItsOwn() async throws {
    let result = try await #require(
      processExitsWith: .exitCode(0), observing: [\.standardOutputContent]
    ) {
      let options = try StressOptions(
        ["--seed", "7", "--threads", "2", "--rounds", "2"], for: countingProgram)
      let report = await onOwnThread { StressRun(countingProgram, options).perform() }
      exit(report.finish(writingTo: nil))
    }
    let output = String(decoding: result.standardOutputContent, as: UTF8.self)
    #expect(output.contains("every promise held; seed 7"), "\(output)")
    #expect(!output.contains("STRESS_SEED"), "\(output)")
  }

  @Test(arguments: [[], ["--memory", "50"], ["--stall", "0.25"], ["--memory=1", "--stall=2"]])
  func theCommandRepeatsATrial(_ limits: [String]) throws {
    let options = try StressOptions(
      ["--seed", "7", "--threads", "3", "--limit", "5", "--rounds", "6"] + limits,
      for: countingProgram)
    let trial = Trial(countingProgram.scenarios[1], variant: "second", options, .rounds(6))
    let command = StressReport(countingProgram, options).command(for: trial)
    let repeated = try StressOptions(
      command.split(separator: " ").dropFirst().map(String.init), for: countingProgram)
    var expected = options
    expected.scenarios = ["breaking"]
    expected.variants = ["second"]
    #expect(repeated == expected)
    #expect(repeated[limit] == 5)
  }

  @Test(arguments: ["0.001", "1e-05", "2.345", "10", "1e6"])
  func theCommandHasTheSecondsThatWereAskedFor(_ seconds: String) throws {
    let options = try StressOptions(["--seconds", seconds], for: countingProgram)
    let trial = Trial(countingProgram.scenarios[0], variant: "first", options, .until(.now))
    let command = StressReport(countingProgram, options).command(for: trial)
    let repeated = try StressOptions(
      command.split(separator: " ").dropFirst().map(String.init), for: countingProgram)
    #expect(repeated.seconds == options.seconds)
    #expect(repeated.seconds == Double(seconds))
  }

  @Test func aScenarioWithoutARoundHasNotHeld() async throws {
    let program = StressProgram(
      "idle-stress", summary: "Does nothing.",
      scenarios: [StressScenario("idle", promise: "none") { _ in }])
    let options = try StressOptions(["--rounds", "1"], for: program)
    let report = await onOwnThread { StressRun(program, options).perform() }
    #expect(!report.held)
    #expect(
      report.results.map(\.brokenPromises) == [
        ["the scenario completed no round: it must call completeRound() (round 0)"]
      ])
  }

  @Test func aScenarioThatLeavesAnObjectHasNotHeld() async throws {
    let program = StressProgram(
      "leak-stress", summary: "Leaves objects.",
      scenarios: [
        StressScenario("leak", promise: "none is left") { trial in
          trial.lifetimes.noteCreation()
          trial.completeRound()
        }
      ])
    let options = try StressOptions(["--rounds", "1"], for: program)
    let report = await onOwnThread { StressRun(program, options).perform() }
    #expect(
      report.results.map(\.brokenPromises) == [["1 of 1 objects were never destroyed (round 1)"]])
  }

  @Test func theCommandHasAnEmptyValueOfTheProgram() throws {
    let text = StressOption(
      "--text", "TEXT", "a text", default: "", requirement: "a text", format: { $0 }, parse: { $0 })
    let program = StressProgram(
      "empty-stress", summary: "Has an empty text.", options: [text],
      scenarios: [StressScenario("one", promise: "none") { _ in }])
    let options = try StressOptions([], for: program)
    let trial = Trial(program.scenarios[0], options, .rounds(1))
    #expect(StressReport(program, options).command(for: trial).contains(" --text '' "))
    for arguments in [["--text", ""], ["--text="]] {
      #expect(try StressOptions(arguments, for: program)[text] == "")
    }
    #expect(throws: StressOptionError.self) { try StressOptions(["--text"], for: program) }
    #expect(throws: StressOptionError.self) { try StressOptions(["--json", ""], for: program) }
  }

  @Test func theCommandIsQuotedForTheShell() throws {
    let text = StressOption(
      "--text", "TEXT", "a text", default: "two words", requirement: "a text", format: { $0 },
      parse: { $0 })
    let program = StressProgram(
      "quote-stress", summary: "Quotes.",
      variants: StressVariants(option: "--variant", noun: "variant", names: ["a, b", "c"]),
      options: [text], scenarios: [StressScenario("it's one", promise: "none") { _ in }])
    let options = try StressOptions(["--rounds", "1"], for: program)
    let trial = Trial(program.scenarios[0], variant: "a, b", options, .rounds(1))
    let command = StressReport(program, options).command(for: trial)
    #expect(
      command.hasPrefix("quote-stress --scenario 'it'\\''s one' --variant 'a, b' --seed"),
      "\(command)")
    #expect(command.contains(" --text 'two words' "))
    // What the shell makes of it.
    let repeated = try StressOptions(
      ["--scenario", "it's one", "--variant", "a, b", "--text=two words"], for: program)
    #expect(repeated.scenarios == ["it's one"] && repeated.variants == ["a, b"])
  }

  @Test func smallNumbersHaveTheirDigits() throws {
    #expect(
      [0, 3, 12.345, 0.5, 0.099, 0.003, -0.003, 1e-05].map(\.shortened)
        == ["0", "3", "12.35", "0.50", "0.099", "0.003", "-0.003", "1e-05"])
    var report = try report()
    report.seconds = 7.2
    report.passes = .init(completed: 1, hours: 0.003)
    #expect(report.passLine.contains("pass 1: 0.002 of 0.003 h, "), "\(report.passLine)")
  }

  @Test func theStatusSaysWhetherAPromiseBroke() throws {
    #expect(try report().finish(writingTo: nil) == 0)
    #expect(try report(broken: ["it broke"]).finish(writingTo: nil) == 1)
  }

  @Test func theFileHasTheFiguresAndTheVerdict() throws {
    let path = temporaryPath()
    defer { unlink(path) }
    let file = try ReportFile(path)
    // A shorter report replaces a longer one.
    #expect(try report(broken: ["it broke", "again"]).finish(writingTo: file) == 1)
    #expect(try report(broken: ["it broke"]).finish(writingTo: file) == 1)
    let data = try Data(contentsOf: URL(fileURLWithPath: path))
    let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    #expect(object["held"] as? Bool == false)
    #expect(object["seed"] as? Int == 7)
    #expect(object["limit"] as? Int == 1_000_000_000)
    #expect(object["operations"] as? Int == 4000)
    let trials = try #require(object["trials"] as? [[String: Any]])
    #expect(trials.map { $0["variant"] as? String } == ["first", "second"])
    #expect(trials.last?["brokenPromises"] as? [String] == ["it broke"])
  }

  @Test func theFileHasOptionsWithTheNamesOfItsFields() throws {
    let path = temporaryPath()
    defer { unlink(path) }
    let names = ["--trials", "--operations", "--passes"]
    let program = StressProgram(
      "field-stress", summary: "Has fields.",
      variants: StressVariants(option: "--command", noun: "command", names: ["sort"]),
      options: names.map { StressOption.number($0, "a number", default: 3, in: 1...9) },
      scenarios: [StressScenario("one", promise: "none") { _ in }])
    var report = StressReport(program, try StressOptions(["--passes", "4"], for: program))
    report.add(
      TrialResult(
        scenario: "one", variant: "sort", rounds: 10, operations: 1000, seconds: 0.5,
        brokenPromises: [], command: "field-stress --seed 7"))
    #expect(report.finish(writingTo: try ReportFile(path)) == 0)
    let data = try Data(contentsOf: URL(fileURLWithPath: path))
    let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    #expect(names.map { object[$0] as? Int } == [3, 3, 4])
    #expect(object["operations"] as? Int == 1000)
    let trial = try #require((object["trials"] as? [[String: Any]])?.first)
    #expect(trial["--command"] as? String == "sort")
    #expect(trial["command"] as? String == "field-stress --seed 7")
  }

  @Test func aFileThatCannotBeWrittenIsRefusedBeforeTheRun() {
    #expect(throws: StressOptionError.self) { try ReportFile("/nowhere/at/all.json") }
  }

  @Test func aReportIsKeptUntilTheStateIsReadToo() throws {
    let (report, state) = (temporaryPath(), temporaryPath())
    defer { for path in [report, state, state + ".crash"] { unlink(path) } }
    try Data("older".utf8).write(to: URL(fileURLWithPath: report))
    try Data("no state".utf8).write(to: URL(fileURLWithPath: state))
    let options = try StressOptions(
      ["--hours", "1", "--json", report, "--state", state], for: countingProgram)
    #expect(throws: StressOptionError.self) { try countingProgram.openFiles(options) }
    #expect(try Data(contentsOf: URL(fileURLWithPath: report)) == Data("older".utf8))
    unlink(state)
    #expect(throws: Never.self) { try countingProgram.openFiles(options) }
    // Not `Data(contentsOf:)`: on Linux it leaks when the file is empty.
    #expect(try FileManager.default.attributesOfItem(atPath: report)[.size] as? Int == 0)
  }

  @Test func aReportDoesNotReplaceTheState() throws {
    let (state, link) = (temporaryPath(), temporaryPath())
    defer { for path in [state, state + ".crash", link] { unlink(path) } }
    let first = try StressOptions(["--hours", "1", "--state", state], for: countingProgram)
    _ = try countingProgram.openFiles(first)
    try #require(symlink(state, link) == 0)
    let saved = try Data(contentsOf: URL(fileURLWithPath: state))
    for path in [state, link, state + ".crash"] {
      let options = try StressOptions(
        ["--hours", "1", "--state", state, "--json", path], for: countingProgram)
      #expect(throws: StressOptionError.self) { try countingProgram.openFiles(options) }
      #expect(try Data(contentsOf: URL(fileURLWithPath: state)) == saved)
    }
  }

  @Test func aReportAndAStateAreNotWhereTextIsPrinted() async {
    await #expect(processExitsWith: .success) {
      let path = temporaryPath()
      defer { for path in [path, path + ".crash"] { unlink(path) } }
      let descriptor = open(path, O_WRONLY | O_CREAT, 0o600)
      for standard in [STDOUT_FILENO, STDERR_FILENO] {
        let before = dup(standard)
        guard dup2(descriptor, standard) == standard else { exit(1) }
        for option in ["--json", "--state"] {
          let options = try StressOptions(["--hours", "1", option, path], for: countingProgram)
          guard (try? countingProgram.openFiles(options)) == nil else { exit(1) }
        }
        guard dup2(before, standard) == standard else { exit(1) }
      }
      let options = try StressOptions(["--hours", "1", "--json", path], for: countingProgram)
      _ = try countingProgram.openFiles(options)
    }
  }

  @Test func aReportMayGoIntoAPipe() throws {
    let path = temporaryPath()
    defer { unlink(path) }
    try #require(mkfifo(path, 0o600) == 0)
    let reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    try #require(reader >= 0)
    defer { close(reader) }
    let file = try ReportFile(path)
    try file.clear()
    #expect(try report().finish(writingTo: file) == 0)
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    let count = read(reader, &bytes, bytes.count)
    let object = try JSONSerialization.jsonObject(with: Data(bytes.prefix(max(count, 0))))
    #expect((object as? [String: Any])?["held"] as? Bool == true)
  }

  #if os(Linux)
    @Test func aFullDiskIsToldInOneLine() throws {
      let file = try ReportFile("/dev/full")
      let error = try #require(throws: StressOptionError.self) { try file.write(report()) }
      #expect(error.message == "cannot write '/dev/full': No space left on device")
    }
  #endif

  @Test func laterTrialsAddToTheFirst() throws {
    var report = try report()
    let later = TrialResult(
      scenario: "counting", variant: "first", rounds: 5, operations: 50, seconds: 0.5,
      brokenPromises: Array(repeating: "it broke", count: 20), command: "count-stress --seed 9")
    for _ in 0..<3 { report.add(later) }
    #expect(report.results.count == 2)
    #expect(report.results[0].rounds == 25)
    #expect(report.results[0].brokenPromises.count == 10)
    #expect(report.results[0].command == "count-stress --seed 9")
  }
}

/// A path of a file that does not exist.
func temporaryPath() -> String {
  FileManager.default.temporaryDirectory
    .appendingPathComponent("concurrency-stress-\(UUID().uuidString).json").path
}
