import Foundation
import Logging
import Testing

@testable import FanOutCore

/// An access log that is a pipe.
@Suite(.timeLimit(.minutes(5))) struct AccessLogFileTests {
  @Test func aWaitForAFullPipeEndsAtItsLimit() throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "pipe-\(UUID().uuidString)")
      .path()
    #expect(mkfifo(path, 0o600) == 0)
    defer { unlink(path) }
    // Without waiting for a writer.
    let reader = open(path, O_RDONLY | O_NONBLOCK)
    defer { close(reader) }
    let log = try #require(AccessLog(.json, path: path, logger: Logger(label: "test")))
    let line = String(repeating: "x", count: 999)
    // More than the pipe holds, and less than may wait.
    for _ in 0..<500 { log.write(line) }
    #expect(!log.flush(within: .milliseconds(50)))
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 1 << 16)
    while bytes.count < 500_000 {
      let count = read(reader, &part, part.count)
      if count > 0 { bytes += part[..<count] }
    }
    #expect(log.flush(within: .seconds(60)))
    #expect(bytes == Array(String(repeating: line + "\n", count: 500).utf8))
  }
}
