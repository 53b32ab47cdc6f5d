import Foundation
import Testing

@testable import ConcurrencyStress
@testable import MulticastStress

@Suite struct ProgramTests {
  @Test func unusableOptionsEndWithStatus2AndOneLine() async throws {
    let result = try await #require(
      processExitsWith: .exitCode(2), observing: [\.standardErrorContent]
    ) {
      Program.stress.start(["--threads", "none"])
    }
    let errors = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(
      errors.hasSuffix("multicast-stress: --threads: 'none' is not a number from 1 to 256\n"))
  }

  #if os(Linux)
    /// The program, which is built beside the tests, takes the place of this process.
    private static func becomeProgram(_ words: [[CChar]]) throws {
      let tests = try #require(Bundle.main.executableURL).resolvingSymlinksInPath()
      let program = tests.deletingLastPathComponent().appending(path: "multicast-stress").path
      execv(program, ([Array(program.utf8CString)] + words).map { strdup($0) } + [nil])
    }

    @Test func anArgumentThatIsNotUTF8IsRefused() async throws {
      let result = try await #require(
        processExitsWith: .exitCode(2), observing: [\.standardErrorContent]
      ) {
        try Self.becomeProgram([[-1, 0]])
      }
      let errors = String(decoding: result.standardErrorContent, as: UTF8.self)
      #expect(
        errors.hasSuffix("multicast-stress: the argument '\u{FFFD}' is not UTF-8\n"), "\(errors)")
    }

    @Test func noFileGetsTheNumberOfAClosedOutput() async throws {
      let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
      defer { unlink(path) }
      await #expect(processExitsWith: .success) { [path = path as String] in
        // Closed by `execv`: other threads of this process could open a file in between.
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
          _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        }
        let words = ["--rounds", "1", "--threads", "2", "--scenario", "sequence", "--json", path]
        try Self.becomeProgram(words.map { Array($0.utf8CString) })
      }
      // What was printed is not part of the report.
      let report = try Data(contentsOf: URL(fileURLWithPath: path))
      #expect(try JSONSerialization.jsonObject(with: report) is [String: Any])
    }
  #endif

  @Test func theListHasEveryScenarioWithItsPromise() async throws {
    let result = try await #require(
      processExitsWith: .success, observing: [\.standardOutputContent]
    ) {
      Program.stress.start(["--list"])
      exit(0)
    }
    let output = String(decoding: result.standardOutputContent, as: UTF8.self)
    for scenario in Scenarios.all {
      #expect(output.contains(scenario.name) && output.contains(scenario.promise))
    }
    #expect(!output.contains("\u{1B}"))
  }

  @Test(arguments: [["--help"], ["--list"], ["--rounds", "1", "--scenario", "sequence"]])
  func outputThatCannotBeWrittenEndsWithStatus2AndOneLine(arguments: [String]) async throws {
    let result = try await #require(
      processExitsWith: .exitCode(2), observing: [\.standardErrorContent]
    ) { [arguments] in
      dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO)
      let options = try StressOptions(arguments, for: Program.stress)
      // The main thread serves the main queue, which `start` would do here.
      guard options.rounds != nil else { return Program.stress.start(arguments) }
      let report = await onOwnThread { StressRun(Program.stress, options).perform() }
      exit(report.finish(writingTo: nil))
    }
    let errors = String(decoding: result.standardErrorContent, as: UTF8.self)
    let error = "multicast-stress: cannot write standard output: No space left on device\n"
    #expect(errors.hasSuffix(error), "\(errors)")
  }

  @Test func aReaderThatHasSeenEnoughOfTheListIsNoError() async {
    await #expect(processExitsWith: .success) {
      var ends: [Int32] = [0, 0]
      pipe(&ends)
      dup2(ends[1], STDOUT_FILENO)
      close(ends[0])
      Program.stress.start(["--list"])
      exit(0)
    }
  }

  @Test func aRunThatHoldsHasStatus0() async throws {
    let options = try StressOptions([
      // A stall would end the process of all tests.
      "--rounds", "1", "--threads", "2", "--scenario", "sequence", "--stall", "1200",
    ])
    let report = await onOwnThread { StressRun(Program.stress, options).perform() }
    #expect(report.finish(writingTo: nil) == 0)
    #expect(report.results.map(\.rounds) == [1, 1, 1, 1, 1])
  }
}
