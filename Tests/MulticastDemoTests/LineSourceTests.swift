import Foundation
import Testing

@testable import MulticastDemo

@Suite struct LineSourceTests {
  /// The lines of a file with these bytes.
  private func lines(_ bytes: [UInt8]) throws -> [[UInt8]] {
    let folder = try TemporaryFolder()
    try folder.write(bytes, to: "log")
    let source = LineSource(try InputFile(path: folder.path("log")))
    var lines: [[UInt8]] = []
    while let events = try source.next() { lines += events.map { Array($0.bytes) } }
    #expect(source.eventsRead == lines.count)
    return lines
  }

  private func lines(_ text: String) throws -> [String] {
    try lines(Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test func eachLineIsAnEvent() throws {
    #expect(try lines("a\nb\n") == ["a", "b"])
  }

  @Test func theLastLineNeedsNoNewline() throws {
    #expect(try lines("a\nb") == ["a", "b"])
  }

  @Test func emptyLinesCount() throws {
    #expect(try lines("\n\na\n\n") == ["", "", "a", ""])
  }

  @Test func anEmptyFileHasNoEvents() throws {
    #expect(try lines("").isEmpty)
  }

  @Test func bytesAreLeftAlone() throws {
    #expect(try lines([0xFF, 0x00, 0x0A, 0xC3, 0x0D, 0x0A]) == [[0xFF, 0x00], [0xC3, 0x0D]])
  }

  @Test func linesAcrossTheBoundariesOfReadsAreWhole() throws {
    let expected = (0..<50_000).map { "line number \($0)" }
    #expect(try lines(expected.joined(separator: "\n")) == expected)
  }

  @Test func aLineMayBeAsLongAsTheLimit() throws {
    let line = [UInt8](repeating: 0x78, count: LineSource.longestLine)
    #expect(try lines(line + [0x0A]).map(\.count) == [line.count])
  }

  @Test func aLineBeyondTheLimitIsRefusedByItsNumber() throws {
    let line = [UInt8](repeating: 0x78, count: LineSource.longestLine * 2)
    let error = try #require(throws: DemoError.self) { try lines([0x0A] + line) }
    #expect(error.status == 1)
    #expect(error.message.contains("line 2 is longer than 1048576 bytes"))
  }

  @Test func aLineThatIsReadWithItsEndHasTheSameLimit() throws {
    let line = [UInt8](repeating: 0x78, count: LineSource.longestLine + 1)
    for rest in [[], [0x0A], [0x0A, 0x61, 0x0A]] as [[UInt8]] {
      let error = try #require(throws: DemoError.self) { try lines([0x0A] + line + rest) }
      #expect(error.message.contains("line 2 is longer than 1048576 bytes"))
    }
  }

  @Test(.timeLimit(.minutes(10)))
  func linesAreGivenOutBeforeTheInputEnds() throws {
    let pipe = Pipe()
    let source = LineSource(
      InputFile(descriptor: pipe.fileHandleForReading.fileDescriptor, name: "pipe"))
    pipe.fileHandleForWriting.write(Data("a\nb\nc".utf8))
    #expect(try source.next() == [Event("a"), Event("b")])
    pipe.fileHandleForWriting.write(Data("d\n".utf8))
    #expect(try source.next() == [Event("cd")])
    try pipe.fileHandleForWriting.close()
    #expect(try source.next() == nil)
    #expect(try source.next() == nil)
    #expect(source.eventsRead == 3)
    withExtendedLifetime(pipe) {}
  }

  @Test func aFileThatIsNotThereIsRefused() throws {
    #expect(throws: DemoError.failure("cannot read /nowhere/at/all: No such file or directory")) {
      _ = try InputFile(path: "/nowhere/at/all")
    }
  }
}
