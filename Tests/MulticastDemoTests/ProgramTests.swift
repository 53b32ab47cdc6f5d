import Foundation
import Testing

/// What a user sees: the built program, run as a process.
@Suite struct ProgramTests {
  @Test func aReportIsPrintedForStandardInput() throws {
    let run = try DemoProcess.run(
      ["--match", "GET", "--threads", "2"], input: "a GET /\nb POST /\na GET /x\n")
    #expect(run.status == 0)
    #expect(
      run.outputLines == [
        "read 3 lines from standard input by 2 threads",
        "keys, field 1: received 3",
        "  2 a",
        "  1 b",
        "lines with 'GET': received 3",
        "  2 matched",
        "rate: received 3",
        "the totals agree: 3 delegates received 3 lines each",
      ])
    // One for each second before.
    let progress = try #require(run.errorLines.last)
    #expect(progress.hasPrefix("multicast-demo: 3 lines, "))
    #expect(run.errorLines.allSatisfy { $0.hasPrefix("multicast-demo: ") })
  }

  @Test func matchesGoToAFileInOrderWithOneThread() throws {
    let folder = try TemporaryFolder()
    try folder.write("x 1\ny 2\nx 3", to: "in")
    try folder.write("something older and longer", to: "out")
    let run = try DemoProcess.run([
      "--input", folder.path("in"), "--match", "x", "--output", folder.path("out"),
      "--threads", "1",
    ])
    #expect(run.status == 0)
    #expect(String(decoding: try folder.read("out"), as: UTF8.self) == "x 1\nx 3\n")
  }

  @Test func theReportDoesNotDependOnTheThreads() throws {
    let reports = try ["1", "2", "16"].map { threads in
      let run = try DemoProcess.run(["--sample", "30000", "--key", "4", "--threads", threads])
      #expect(run.status == 0)
      return run.outputLines.dropFirst()
    }
    #expect(reports[0].last == "the totals agree: 3 delegates received 30000 lines each")
    #expect(reports[0] == reports[1])
    #expect(reports[0] == reports[2])
  }

  @Test func anEmptyFileIsFine() throws {
    let run = try DemoProcess.run([], input: "")
    #expect(run.status == 0)
    #expect(run.outputLines.last == "the totals agree: 2 delegates received 0 lines each")
  }

  @Test func invalidUTF8IsFine() throws {
    let folder = try TemporaryFolder()
    try folder.write([0xFF, 0xFE, 0x20, 0x61, 0x0A, 0xC3, 0x0A, 0x00], to: "in")
    let run = try DemoProcess.run(["--input", folder.path("in")])
    #expect(run.status == 0)
    #expect(run.outputLines.last == "the totals agree: 2 delegates received 3 lines each")
  }

  @Test(arguments: ["--help", "-h"])
  func helpIsPrinted(_ argument: String) throws {
    let run = try DemoProcess.run([argument])
    #expect(run.status == 0)
    #expect(run.output.hasPrefix("usage: multicast-demo"))
    for option in ["--input", "--sample", "--key", "--top", "--match", "--output", "--threads"] {
      #expect(run.output.contains(option))
    }
    #expect(run.output.contains("built-in sample"))
    #expect(run.errors.isEmpty)
  }
}

// MARK: - Standard input and output of every kind

extension ProgramTests {
  private static let sampleLine = "read 10000 lines from the built-in sample by 4 threads"

  #if os(Linux)
    @Test func atATerminalTheSampleIsUsed() throws {
      // `script` runs a command at a terminal of its own.
      let run = try DemoProcess.run(shell: "script --quiet --return --command \"$0\" /dev/null")
      #expect(run.status == 0)
      #expect(run.output.contains(Self.sampleLine))
      #expect(run.output.contains("the totals agree: 3 delegates received 10000 lines each"))
    }
  #endif

  @Test(arguments: ["</dev/null", "<&-"])
  func withoutStandardInputTheSampleIsUsed(_ redirection: String) throws {
    let run = try DemoProcess.run(shell: "\"$0\" \(redirection)")
    #expect(run.status == 0)
    #expect(run.outputLines.first == Self.sampleLine[...])
  }

  @Test(arguments: ["2>&-", "<&- 2>&-"])
  func theProgressDoesNotGoIntoTheOutput(_ redirection: String) throws {
    let folder = try TemporaryFolder()
    let path = folder.path("out")
    let run = try DemoProcess.run(
      shell: "\"$0\" --sample 20 --match 10.0 --output '\(path)' \(redirection)")
    #expect(run.status == 0)
    let lines = String(decoding: try folder.read("out"), as: UTF8.self).split(separator: "\n")
    #expect(lines.count == 20)
    #expect(lines.allSatisfy { $0.hasPrefix("10.0.") })
  }

  @Test(arguments: [">'out'", ">>'out'"])
  func theReportDoesNotOverwriteTheOutput(_ redirection: String) throws {
    let folder = try TemporaryFolder()
    try folder.write("older", to: "out")
    let run = try DemoProcess.run(
      shell: "cd '\(folder.path("."))' && \"$0\" --match 10.0 --output out \(redirection)")
    expectFailure(run, status: 1, message: "cannot write out: the report is printed there")
    let isAppended = redirection.hasPrefix(">>")
    #expect(try folder.read("out") == Array((isAppended ? "older" : "").utf8))
  }

  @Test(arguments: ["--match", "--input", "--output"])
  func anArgumentThatIsNotUTF8IsRefused(_ option: String) throws {
    let run = try DemoProcess.run(shell: "\"$0\" \(option)=a\"$(printf '\\377')\"")
    #expect(run.status == 2)
    #expect(
      run.errors
        == "multicast-demo: the argument '\(option)=a\u{FFFD}' is not UTF-8 (try --help)\n")
  }

  @Test func aPipeIsRead() throws {
    let run = try DemoProcess.run(shell: "printf 'a\\nb\\n' | \"$0\" --input -")
    #expect(run.status == 0)
    #expect(run.outputLines.first == "read 2 lines from standard input by 4 threads")
  }

  @Test func aBrokenPipeIsOneLineAndNoTrace() throws {
    let folder = try TemporaryFolder()
    // A pipe that no other process can inherit an end of.
    try #require(mkfifo(folder.path("pipe"), 0o600) == 0)
    let reader = open(folder.path("pipe"), O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    let writer = open(folder.path("pipe"), O_WRONLY | O_CLOEXEC)
    try #require(reader >= 0 && writer >= 0)
    close(reader)
    defer { close(writer) }
    let run = try DemoProcess.run(
      ["--help"], standardInput: "/dev/null", standardOutput: writer)
    expectFailure(run, status: 1, message: "cannot write standard output: Broken pipe")
  }

  #if os(Linux)
    @Test func aFullDiskUnderStandardOutputIsAnError() throws {
      let run = try DemoProcess.run(shell: "\"$0\" --help >/dev/full")
      expectFailure(
        run, status: 1, message: "cannot write standard output: No space left on device")
    }

    @Test func aFullDiskUnderTheOutputFileIsAnError() throws {
      let run = try DemoProcess.run(["--match", "a", "--output", "/dev/full"], input: "a\n")
      expectFailure(run, status: 1, message: "cannot write /dev/full: No space left on device")
    }
  #endif
}

// MARK: - Bad input

extension ProgramTests {
  /// Expects one line on standard error, nothing else, and this status.
  private func expectFailure(_ run: DemoProcess, status: Int32, message: String) {
    #expect(run.status == status)
    #expect(run.output.isEmpty)
    #expect(run.errorLines.count == 1)
    #expect(run.errors.hasPrefix("multicast-demo: \(message)"))
    #expect(run.errors.hasSuffix("\n"))
  }

  @Test(arguments: [
    (["--nonsense"], "unknown option '--nonsense'"),
    (["access.log"], "unknown option 'access.log'"),
    (["--bad\nname"], "unknown option '--bad\u{FFFD}name'"),
    (["--key", "zero"], "the value of --key is a number from 1 to 1000, not 'zero'"),
    (["--key", "0"], "the value of --key is a number from 1 to 1000, not '0'"),
    (["--threads", "0"], "the value of --threads is a number from 1 to 64, not '0'"),
    (["--threads", "65"], "the value of --threads is a number from 1 to 64, not '65'"),
    (["--threads"], "--threads needs a value"),
    (["--match="], "the value of --match is empty"),
    (["--output", "x"], "--output needs --match"),
    (["--sample", "1", "--input", "x"], "more than one --input or --sample"),
  ])
  func unusableOptionsEndWithTwo(_ arguments: [String], _ message: String) throws {
    expectFailure(try DemoProcess.run(arguments), status: 2, message: message)
  }

  @Test func anInputThatIsNotThereEndsWithOne() throws {
    let run = try DemoProcess.run(["--input", "/nowhere/log"])
    expectFailure(run, status: 1, message: "cannot read /nowhere/log: No such file or directory")
  }

  @Test func aFolderAsInputEndsWithOne() throws {
    let folder = try TemporaryFolder()
    let run = try DemoProcess.run(["--input", folder.url.path])
    expectFailure(run, status: 1, message: "cannot read \(folder.url.path): Is a directory")
  }

  @Test func anUnwritableOutputEndsWithOne() throws {
    let folder = try TemporaryFolder()
    for path in [folder.url.path, "/nowhere/out"] {
      let run = try DemoProcess.run(["--match", "a", "--output", path], input: "a\n")
      expectFailure(run, status: 1, message: "cannot write \(path): ")
    }
  }

  @Test func anInputThatIsNotThereLeavesTheOutputAlone() throws {
    let folder = try TemporaryFolder()
    try folder.write("precious", to: "out")
    let run = try DemoProcess.run([
      "--input", "/nowhere/log", "--match", "a", "--output", folder.path("out"),
    ])
    expectFailure(run, status: 1, message: "cannot read /nowhere/log")
    #expect(try folder.read("out") == Array("precious".utf8))
  }

  @Test(arguments: [true, false])
  func theInputIsNotOverwritten(_ byPath: Bool) throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("a\n", to: "log")
    let link = folder.path("link")
    try FileManager.default.linkItem(atPath: file.path, toPath: link)
    let arguments = ["--match", "a", "--output", link]
    let run =
      if byPath {
        try DemoProcess.run(["--input", file.path] + arguments)
      } else {
        try DemoProcess.run(arguments, standardInput: file.path)
      }
    expectFailure(run, status: 1, message: "cannot write \(link): it is the input")
    #expect(try folder.read("log") == Array("a\n".utf8))
  }

  @Test func aLineWithoutEndEndsWithOne() throws {
    let run = try DemoProcess.run(["--input", "/dev/zero"])
    expectFailure(
      run, status: 1, message: "cannot read /dev/zero: line 1 is longer than 1048576 bytes")
  }
}
