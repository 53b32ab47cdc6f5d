import Foundation
import Testing

@testable import BenchmarkHarness

/// The command line of the benchmarks.
@Suite struct OptionsTests {
  @Test func severalValuesHaveCommasOrSeveralOptions() throws {
    let options = try Options([
      "--workload", "floor,queues", "--workload", "hub", "--sizes", "1,10", "--sizes", "100",
      "--threads", "1", "--threads", "2,4",
    ])
    #expect(options.workloads == ["floor", "queues", "hub"])
    #expect(options.sizes == [1, 10, 100])
    #expect(options.threads == [1, 2, 4])
  }

  @Test func aValueMayFollowAnEqualsSign() throws {
    let options = try Options(["--workload=floor", "--sizes=1,10", "--system=a=b", "--quick"])
    #expect(options.workloads == ["floor"])
    #expect(options.sizes == [1, 10])
    #expect(options.systems == ["a=b"])
    #expect(options.isQuick)
  }

  @Test func theNameOfASystemMayHaveACommaToo() throws {
    let known: Set = ["locked", "waitFree", "waitFree, timed"]
    let options = try Options(["--strategy", "waitFree, timed", "--system", "locked,waitFree"])
    #expect(try options.systems(among: known) == ["waitFree, timed", "locked", "waitFree"])
    let error = #expect(throws: OptionError.self) { try options.systems(among: ["locked"]) }
    #expect(error?.message == "no system 'waitFree' here, only 'locked'")
  }

  @Test(arguments: [
    ["--nonsense"], ["floor"], ["--workload"], ["--workload", ","], ["--strategy", ""],
    ["--strategy", ","], ["--iterations", "1", "--json", "x"], ["--check", "--iterations", "1"],
    ["--sizes", ","], ["--sizes", "0"], ["--sizes", "1,x"], ["--threads", "-1"],
    ["--threads", "1,257"],
    ["--iterations", "1,2"], ["--json", "--quick"],
    ["--sizes="], ["--json="], ["--quick=1"], ["--help="], ["=1"],
  ])
  func whatCannotBeFollowedIsRefused(_ arguments: [String]) {
    #expect(throws: OptionError.self) { try Options(arguments) }
  }

  @Test func anErrorIsOneLine() {
    let error = #expect(throws: OptionError.self) { try Options(["--bad\u{1B}[31m\nname"]) }
    #expect(
      error?.message == "unknown option '--bad\u{FFFD}[31m\u{FFFD}name'; --help lists them")
  }

  @Test func twoReportsAreNotOneFile() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appending(path: "report").path
    try #require(symlink(path, path + ".link") == 0)
    let (file, link) = (try OutputFile(path), try OutputFile(path + ".link"))
    let other = try OutputFile(path + ".other")
    let devices = (try OutputFile("/dev/null"), try OutputFile("/dev/null"))
    #expect(file.isSame(as: link))
    #expect(!file.isSame(as: other))
    #expect(!devices.0.isSame(as: devices.1))
    for file in [file, link, other, devices.0, devices.1] { try file.write("") }
  }
}
