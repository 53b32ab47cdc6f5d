import Foundation
import Testing

@testable import BenchmarkHarness

/// The files that a benchmark writes beside its text.
@Suite struct ReportFileTests {
  /// A folder of its own, and a report in it.
  private static func makeFolder() throws -> (folder: URL, report: String) {
    let folder = FileManager.default.temporaryDirectory.appending(path: "\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    return (folder, folder.appending(path: "report").path)
  }

  @Test func anOlderReportStaysIfTheOptionsAreUnusable() throws {
    let (folder, report) = try Self.makeFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    try "older".write(toFile: report, atomically: false, encoding: .utf8)
    for csv in [report, folder.path, report + "/csv"] {
      let options = try Options(["--json", report, "--csv", csv])
      #expect(throws: OptionError.self) { try BenchmarkProgram.prepareOutput(options) }
      #expect(try String(contentsOfFile: report, encoding: .utf8) == "older")
    }
    let (json, csv) = try BenchmarkProgram.prepareOutput(Options(["--json", report]))
    #expect(csv == nil)
    try json?.write("newer")
    // Not read while it is empty: Foundation loses the memory for the bytes of an empty file.
    #expect(try String(contentsOfFile: report, encoding: .utf8) == "newer")
  }

  @Test func aReportThatCannotBeWrittenDoesNotCostTheOther() throws {
    let report = Report("bench", .current(), isQuick: true, notes: [])
    for full in ["--json", "--csv"] {
      let (folder, path) = try Self.makeFolder()
      defer { try? FileManager.default.removeItem(at: folder) }
      let other = full == "--json" ? "--csv" : "--json"
      let (json, csv) = try BenchmarkProgram.prepareOutput(
        Options([full, "/dev/full", other, path]))
      #expect(throws: OptionError.self) { try report.write(json: json, csv: csv) }
      #expect(FileManager.default.contents(atPath: path)?.isEmpty == false)
    }
  }

  @Test func aReportIsNotWhereThePrintedTextGoes() async {
    await #expect(processExitsWith: .success) {
      let (folder, report) = try Self.makeFolder()
      defer { try? FileManager.default.removeItem(at: folder) }
      close(STDOUT_FILENO)
      let (file, _) = try BenchmarkProgram.prepareOutput(Options(["--json", report]))
      Console.output.print("text")
      try file?.write("report")
      guard try String(contentsOfFile: report, encoding: .utf8) == "report" else { exit(1) }
    }
  }

  @Test func aReaderOfTheTextMayHaveSeenEnough() async {
    await #expect(processExitsWith: .success) {
      var ends: [Int32] = [0, 0]
      guard pipe(&ends) == 0, dup2(ends[1], STDOUT_FILENO) == STDOUT_FILENO else { exit(1) }
      _ = try BenchmarkProgram.prepareOutput(Options(["--check"]))
      close(ends[0])
      Console.output.print("text")
      guard Console.outputError == nil else { exit(1) }
    }
  }
}
