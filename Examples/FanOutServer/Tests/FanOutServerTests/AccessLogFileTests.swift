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

  /// Whether `log` was opened again; `nil` if that waits, which `release` ends.
  private func reopen(_ log: AccessLog, release: () -> Void) -> Bool? {
    let isOpen = Box<Bool?>(nil)
    let isDone = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      isOpen.value = log.reopen()
      isDone.signal()
    }
    guard isDone.wait(timeout: .now() + 20) == .timedOut else { return isOpen.value }
    release()
    isDone.wait()
    return nil
  }

  @Test func aFullPipeDoesNotDelayItsReopening() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("pipe")
    #expect(mkfifo(path, 0o600) == 0)
    let reader = open(path, O_RDONLY | O_NONBLOCK)
    defer { close(reader) }
    let log = try #require(AccessLog(.json, path: path, logger: Logger(label: "test")))
    for _ in 0..<500 { log.write(String(repeating: "x", count: 999)) }
    #expect(!log.flush(within: .milliseconds(50)))
    var count = 0
    func readAll() {
      var part = [UInt8](repeating: 0, count: 1 << 16)
      while count < 500_000 { count += max(0, read(reader, &part, part.count)) }
    }
    #expect(reopen(log, release: readAll) == true)
    readAll()
    #expect(log.flush(within: .seconds(60)))
    #expect(count == 500_000)
  }

  @Test func aPipeWithoutAReaderCannotBeReopened() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("pipe")
    #expect(mkfifo(path, 0o600) == 0)
    let reader = open(path, O_RDONLY | O_NONBLOCK)
    let log = try #require(AccessLog(.json, path: path, logger: Logger(label: "test")))
    close(reader)
    // A process that another test starts has the reader too, until it runs its program.
    while case let file = open(path, O_WRONLY | O_NONBLOCK), file >= 0 { close(file) }
    #expect(reopen(log) { close(open(path, O_RDONLY | O_NONBLOCK)) } == false)
  }

  /// What a reader did not take was a part of a line, of the old file.
  @Test func aNewFileBeginsWithALine() throws {
    signal(SIGPIPE, SIG_IGN)
    let folder = try TemporaryFolder()
    let path = folder.path("log")
    #expect(mkfifo(path, 0o600) == 0)
    let reader = open(path, O_RDONLY | O_NONBLOCK)
    let log = try #require(AccessLog(.json, path: path, logger: Logger(label: "test")))
    for _ in 0..<500 { log.write(String(repeating: "x", count: 999)) }
    #expect(!log.flush(within: .milliseconds(50)))
    close(reader)
    #expect(log.flush(within: .seconds(60)))
    unlink(path)
    #expect(log.reopen())
    log.write("first")
    #expect(log.flush(within: .seconds(60)))
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "first\n")
  }
}
