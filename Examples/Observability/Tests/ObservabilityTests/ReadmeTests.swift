import Foundation
import Testing

@Suite("The README shows the program that is built, and what that prints")
struct ReadmeTests {
  private let package = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private func text(_ path: String) throws -> String {
    try String(contentsOf: package.appending(path: path), encoding: .utf8)
  }

  /// The blocks of the README in a language.
  private func blocks(_ language: String) throws -> [String] {
    try text("README.md").components(separatedBy: "```\(language)\n").dropFirst()
      .map { $0.components(separatedBy: "```")[0] }
  }

  @Test func theProgramIsThatOfTheTarget() throws {
    #expect(try blocks("swift").first == text("Sources/ObservabilityExample/main.swift"))
  }

  @Test func theOtherExamplesAreCompiled() throws {
    let examples = try blocks("swift").dropFirst()
    #expect(examples.count == 1)
    func lines(_ text: String) -> String {
      text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        .joined(separator: "\n")
    }
    let compiled = lines(try text("Tests/ObservabilityTests/ReadmeExamples.swift"))
    for example in examples { #expect(compiled.contains(lines(example))) }
  }

  @Test func itPrintsWhatIsShown() throws {
    // Not a `Process` of Foundation: with Swift 6.3 on Linux, starting one reads past the end of a
    // buffer and may crash the tests (swift-corelibs-foundation #5472).
    let program = products.appending(path: "ObservabilityExample").path()
    let stream = try #require(popen("exec '\(program)'", "r"))
    let output = FileHandle(fileDescriptor: fileno(stream))
    let printed = String(decoding: try output.readToEnd() ?? Data(), as: UTF8.self)
    #expect(pclose(stream) == 0)
    let parts = try blocks("text")[0].trimmingCharacters(in: .whitespacesAndNewlines)
      .components(separatedBy: "…")
    // Each part follows the one before it.
    var rest = printed[...]
    #expect(rest.hasPrefix(parts[0]))
    for part in parts {
      let found = try #require(rest.range(of: part), "\(part) is missing in:\n\(printed)")
      rest = rest[found.upperBound...]
    }
    #expect(rest == "\n")
  }

  /// The folder of what was built.
  private var products: URL {
    URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
  }
}
