import FanOutCore
import Foundation
import GRDB
import NIOCore
import Synchronization
import Testing

@testable import SQLiteStore

/// What happens to the files of a history on disk while a server uses them.
@Suite(.timeLimit(.minutes(5))) struct StoreFilesTests {
  private static let moved =
    "files of the store were removed or replaced: move them back, or start the server again"

  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private var settings: StoreSettings { StoreSettings(folder: folder.path("store")) }

  private func store(_ text: String, _ database: EventDatabase) throws {
    try database.store([
      EventDatabase.Entry(
        id: database.last.withLock { $0 } + 1, topic: try Topic("news", limit: 9),
        message: try #require(Message(ByteBuffer(string: text))))
    ])
  }

  /// Without a publication, too; and it needs no restart if they come back.
  @Test func aServerWhoseFolderIsMovedRefusesEventsUntilItIsBack() async throws {
    let server = try ServerProcess(["--port", "0", "--store", settings.folder])
    let port = try server.port()
    try await ProcessClient.with { http in
      let client = ProcessClient(port: port, client: http)
      let id = try #require(try await client.publish("1"))
      var stream = try await client.stream(after: id)
      let other = folder.path("other")
      try FileManager.default.moveItem(atPath: settings.folder, toPath: other)
      while try await !client.request("/health").1.contains(#""status":"disconnected""#) {
        try Task.checkCancellation()
      }
      #expect(try await client.request("/health").1.contains(#""problem":"\#(Self.moved)""#))
      let (status, body) = try await client.request("/topics/news", publish: "2")
      #expect(status == 503 && body == #"{"error":"\#(Self.moved)"}"# + "\n")
      try FileManager.default.moveItem(atPath: other, toPath: settings.folder)
      while try await !client.request("/health").1.contains(#""status":"ok""#) {
        try Task.checkCancellation()
      }
      #expect(try await client.publish("3") == id + 1)
      #expect(try await stream.data(1) == ["3"])
    }
    server.terminate()
    let errors = try server.wait().errors
    #expect(errors.ranges(of: "events cannot be stored: \(Self.moved)").count == 1, "\(errors)")
  }

  @Test(
    arguments: ["lock", "events.sqlite", "events.sqlite-wal", "events.sqlite-shm"], [true, false])
  func aFileThatIsRemovedOrReplacedIsAnError(_ name: String, _ isReplaced: Bool) throws {
    let database = try EventDatabase(settings)
    let start = database.last.withLock { $0 }
    try store("1", database)
    let file = "\(settings.folder)/\(name)"
    let copy = folder.path("copy")
    try FileManager.default.copyItem(atPath: file, toPath: copy)
    try FileManager.default.removeItem(atPath: file)
    if isReplaced { try FileManager.default.moveItem(atPath: copy, toPath: file) }
    let error = #expect(throws: StoreError.self) { try store("2", database) }
    #expect(error == .moved)
    #expect(throws: StoreError.moved) { try database.probe(9) }
    #expect(throws: StoreError.moved) {
      try database.page(
        of: .names(["news"]), after: start, through: start + 1, events: 9, bytes: 9)
    }
    #expect(database.last.withLock { $0 } == start + 1)
  }

  #if os(Linux)
    /// A process that is being started has all files, until it runs its program.
    @Test func aClosedDatabaseMayBeOpenedWhileACopyOfItsLockIsOpen() throws {
      let database = try EventDatabase(settings)
      let lock = "\(settings.folder)/lock"
      let number = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").first {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == lock
      }
      let copy = dup(try #require(number.flatMap { Int32($0) }))
      defer { close(copy) }
      database.close()
      try EventDatabase(settings).close()
    }
  #endif

  /// The file may be on another disk.
  @Test func theDatabaseMayBeASymbolicLink() throws {
    var database = try EventDatabase(settings)
    database.close()
    let files = FileManager.default
    let (link, file) = ("\(settings.folder)/events.sqlite", folder.path("file"))
    try files.moveItem(atPath: link, toPath: file)
    try files.createSymbolicLink(atPath: link, withDestinationPath: file)
    database = try EventDatabase(settings)
    try store("1", database)
    #expect(files.fileExists(atPath: file + "-wal"))
    try files.removeItem(atPath: file + "-wal")
    #expect(throws: StoreError.moved) { try store("2", database) }
  }

  /// Otherwise it would grow until the disk is full.
  @Test func aLogThatCannotBeWrittenToTheDatabaseIsAnErrorWhenItIsLarge() throws {
    var limited = settings
    limited.maxLogBytes = 1 << 20
    limited.patience = 0.1
    var database = try EventDatabase(limited)
    let first = database.last.withLock { $0 } + 1
    let text = String(repeating: "x", count: 100_000)
    let reader = try DatabaseQueue(path: "\(settings.folder)/events.sqlite")
    let error = try reader.read { db in
      // From now on it sees this state, which a checkpoint keeps.
      _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM events")
      let error = try #require(throws: StoreError.self) {
        for _ in 0..<99 { try store(text, database) }
      }
      // A restart does not fail, because streams can be served.
      database.close()
      database = try EventDatabase(limited)
      #expect(throws: error) { try database.check() }
      #expect(throws: error) { try store(text, database) }
      return error
    }
    #expect(
      error.description
        == "the write-ahead log of the store is full, because it cannot be written to the database: "
        + "another program uses the database: end it")
    let last = database.last.withLock { $0 }
    #expect((first + 5..<first + 20).contains(last), "\(last - first)")
    #expect(database.files.logBytes < 2 << 20)
    // What was stored is there, and there is space for more.
    let copy = folder.path("copy")
    try FileManager.default.copyItem(atPath: settings.folder, toPath: copy)
    #expect(
      try EventDatabase(StoreSettings(folder: copy)).newest(events: 99, bytes: .max).1.map(\.id)
        == Array(first...last))
    try store(text, database)
    #expect(database.files.logBytes < 1 << 20)
    database.close()
    database = try EventDatabase(settings)
    #expect(
      try database.newest(events: 99, bytes: .max).1.map(\.id) == Array(first...last + 1))
  }
}
