import Foundation
import Testing

@testable import ConcurrencyStress

/// Runs of hours: passes with other seeds, a state that is resumed, a report after an interrupt.
@Suite struct HoursTests {
  private func options(_ arguments: [String]) throws -> StressOptions {
    try StressOptions(["--threads", "2", "--seed", "7"] + arguments, for: countingProgram)
  }

  private func run(_ options: StressOptions, _ path: String) async throws -> StressReport {
    let state = try StateFile(path, for: countingProgram, options)
    return await onOwnThread { StressRun(countingProgram, options, state: state).perform() }
  }

  private func remove(_ path: String) {
    unlink(path)
    unlink(path + ".crash")
  }

  @Test func aRunIsResumedFromItsState() async throws {
    let path = temporaryPath()
    defer { remove(path) }
    let first = try await run(
      options(["--hours", "0.0001", "--seconds", "0.05", "--scenario", "counting"]), path)
    let passes = try #require(first.passes)
    #expect(passes.completed > 0 && passes.sessions == 1)
    #expect(first.seconds >= 0.36)
    // It may have taken much longer.
    let hours = first.seconds / 3600 + 0.0001
    let second = try await run(
      options(["--hours", "\(hours)", "--seconds", "0.05", "--scenario", "counting"]), path)
    #expect(second.held)
    #expect(second.passes?.sessions == 2)
    #expect(second.passes!.completed > passes.completed)
    #expect(second.seconds >= first.seconds + 0.35)
    #expect(second.results.count == 2)
    for (earlier, later) in zip(first.results, second.results) {
      #expect(later.rounds > earlier.rounds && later.seconds > earlier.seconds)
    }
    // A run that is complete only repeats its report.
    let third = try await run(
      options(["--hours", "\(hours)", "--seconds", "0.05", "--scenario", "counting"]), path)
    #expect(third.passes?.completed == second.passes?.completed)
    #expect(third.results.map(\.rounds) == second.results.map(\.rounds))
  }

  @Test func eachPassHasASeedThatRepeatsIt() async throws {
    let path = temporaryPath()
    defer { remove(path) }
    func run(_ hours: Double) async throws -> StressReport {
      let arguments = ["--seconds", "0.01", "--scenario", "breaking", "--limit", "0"]
      return try await self.run(options(["--hours", "\(hours)"] + arguments), path)
    }
    var report = try await run(0.0001)
    // A slow machine has had time for one pass only.
    while report.passes?.completed == 1 { report = try await run(report.seconds / 3600 + 0.0001) }
    #expect(!report.held)
    // The command is that of the first failure, which came in the first pass.
    let broken = try #require(report.results.first { !$0.held })
    #expect(broken.variant == "second" && broken.command.contains("--seed 7 "))
    #expect((1...10).contains(broken.brokenPromises.count))
    let held = try #require(report.results.first { $0.held })
    #expect(!held.command.contains("--seed 7 "))
    #expect(report.results.count == 2)
  }

  @Test func aCrashOfTheSessionBeforeIsABrokenPromise() throws {
    let path = temporaryPath()
    defer { remove(path) }
    let options = try options(["--hours", "1"])
    func beginTrial() throws {
      try StateFile(path, for: countingProgram, options).update {
        $0.running = .init(scenario: "counting", variant: "first", command: "count-stress --seed 7")
      }
    }
    try beginTrial()
    // Killed from outside: nothing is broken.
    #expect(try StateFile(path, for: countingProgram, options).state.results.isEmpty)
    try beginTrial()
    // What the thread did comes first.
    let crash = """
      BROKEN  a schedule crashed
      repeat with: replay(seed: 3)
      BROKEN  counting on first crashed
      repeat with: count-stress --seed 7

      """
    try Data(crash.utf8).write(to: URL(fileURLWithPath: path + ".crash"))
    let results = try StateFile(path, for: countingProgram, options).state.results
    let lines = crash.split(separator: "\n").dropLast().joined(separator: "\n")
    #expect(results.map(\.brokenPromises) == [[lines]])
    #expect(results.map(\.command) == ["count-stress --seed 7"])
    // It is counted once.
    #expect(
      try StateFile(path, for: countingProgram, options).state.results[0].brokenPromises.count == 1)
  }

  @Test func theStateOfAnotherRunIsRefused() throws {
    let path = temporaryPath()
    defer { remove(path) }
    _ = try StateFile(path, for: countingProgram, options(["--hours", "1"]))
    #expect(throws: StressOptionError.self) {
      try StateFile(path, for: countingProgram, options(["--hours", "1", "--limit", "3"]))
    }
    #expect(throws: Never.self) {
      try StateFile(path, for: countingProgram, options(["--hours", "2"]))
    }
    try Data("{}".utf8).write(to: URL(fileURLWithPath: path))
    #expect(throws: StressOptionError.self) {
      try StateFile(path, for: countingProgram, options(["--hours", "1"]))
    }
  }

  @Test func twoRunsDoNotShareAState() throws {
    let path = temporaryPath()
    defer { remove(path) }
    let options = try options(["--hours", "1"])
    var running: StateFile? = try StateFile(path, for: countingProgram, options)
    let error = #expect(throws: StressOptionError.self) {
      try StateFile(path, for: countingProgram, options)
    }
    #expect(error?.message == "another process runs with the state '\(path)'")
    #expect(running?.state.sessions == 1)
    running = nil
    running = try StateFile(path, for: countingProgram, options)
    #expect(running?.state.sessions == 2)
  }

  @Test func aLinkToAStateIsTheSameState() throws {
    let (path, link) = (temporaryPath(), temporaryPath())
    defer { for path in [path, link] { remove(path) } }
    try #require(symlink(path, link) == 0)
    let options = try options(["--hours", "1"])
    let running = try StateFile(path, for: countingProgram, options)
    let error = #expect(throws: StressOptionError.self) {
      try StateFile(link, for: countingProgram, options)
    }
    #expect(error?.message == "another process runs with the state '\(link)'")
    #expect(!FileManager.default.fileExists(atPath: link + ".crash"))
    #expect(running.state.sessions == 1)
  }

  @Test func theMostMemoryIsThatOfAllSessions() async throws {
    let path = temporaryPath()
    defer { remove(path) }
    let options = try options(["--hours", "0.00001", "--seconds", "0.01", "--scenario", "counting"])
    let before = 1 << 50
    try StateFile(path, for: countingProgram, options).update { $0.peakMemory = before }
    #expect(try await run(options, path).peakMemory == before)
  }

  @Test func whatIsNoFileIsNotReplacedByTheState() throws {
    let (path, link) = (temporaryPath(), temporaryPath())
    defer { for path in [path, link] { remove(path) } }
    // A device, a pipe or a folder would be replaced, or cannot be.
    try #require(mkfifo(path, 0o600) == 0)
    for taken in [path, FileManager.default.temporaryDirectory.path] {
      let error = #expect(throws: StressOptionError.self) {
        try StateFile(taken, for: countingProgram, options(["--hours", "1"]))
      }
      #expect(error?.message == "cannot write '\(taken)': not a regular file")
    }
    unlink(path)
    // A link is followed, before and after its file is there.
    try #require(symlink(path, link) == 0)
    for sessions in 1...2 {
      let file = try StateFile(link, for: countingProgram, options(["--hours", "1"]))
      #expect(file.state.sessions == sessions)
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == path)
      #expect(FileManager.default.fileExists(atPath: path))
    }
  }

  @Test(arguments: [
    ("\"trials\" : 0", "\"trials\" : -9223372036854775808"),
    ("\"passes\" : 0", "\"passes\" : -5"),
    ("\"sessions\" : 1", "\"sessions\" : 9223372036854775807"),
    ("\"seconds\" : 0", "\"seconds\" : -1e308"),
  ])
  func aStateThatCannotBeIsRefused(_ number: String, _ other: String) throws {
    let path = temporaryPath()
    defer { remove(path) }
    _ = try StateFile(path, for: countingProgram, options(["--hours", "1"]))
    let text = try String(contentsOfFile: path, encoding: .utf8)
    try #require(text.contains(number))
    try Data(text.replacing(number, with: other).utf8).write(to: URL(fileURLWithPath: path))
    #expect(throws: StressOptionError.self) {
      try StateFile(path, for: countingProgram, options(["--hours", "1"]))
    }
  }

  @Test func anInterruptEndsTheRunWithItsReport() async throws {
    let result = try await #require(
      processExitsWith: .exitCode(0), observing: [\.standardOutputContent]
    ) {
      let options = try StressOptions(
        ["--hours", "1", "--threads", "2", "--scenario", "counting"], for: countingProgram)
      Interruption.install()
      let report = await onOwnThread {
        let run = RunningThread { kill(getpid(), SIGINT) }
        defer { run.join() }
        return StressRun(countingProgram, options).perform()
      }
      exit(report.finish(writingTo: nil))
    }
    let output = String(decoding: result.standardOutputContent, as: UTF8.self)
    #expect(output.contains("interrupted: the run is not complete"))
    #expect(output.contains("every promise held"))
    #expect(output.contains("1 h"))
  }
}
