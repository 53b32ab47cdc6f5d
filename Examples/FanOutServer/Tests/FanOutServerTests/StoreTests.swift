import AsyncHTTPClient
import FanOutCore
import Foundation
import GRDB
import InMemoryLogging
import Logging
import Multicast
import NIOCore
import Synchronization
import Testing

@testable import SQLiteStore

/// A server with a history on disk, in this process.
@Suite(.timeLimit(.minutes(5))) struct StoreTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private var settings: StoreSettings { StoreSettings(folder: folder.path("store")) }

  /// Runs a server that stores its events in the folder of the test.
  private func withServer(
    _ store: StoreSettings? = nil, history: Int = 128,
    _ body: @escaping @Sendable (RunningServer) async throws -> Void
  ) async throws {
    var settings = Settings()
    settings.historyEvents = history
    settings.bufferLimit = history
    let database = try EventDatabase(store ?? self.settings)
    let restored = try SQLiteStore.Restored(database, keys: settings.rememberedKeys)
    let logger = Logger(label: "store") { _ in SwiftLogNoOpLogHandler() }
    try await RunningServer.with(
      settings, makeLog: { SQLiteStore(database, restored, $0, logger: logger) }, body)
  }

  private func after(_ id: UInt64) -> [(String, String)] { [("Last-Event-ID", "\(id)")] }

  @Test func idsContinueAndClientsResumeAfterARestart() async throws {
    let ids = Box<[UInt64]>([])
    try await withServer { server in
      for number in 0..<4 { ids.value.append(try await server.published("\(number)")) }
      try await server.published("other", to: "other")
    }
    let first = ids.value[0]
    #expect(ids.value == (0..<4).map { first + $0 })
    try await withServer { server in
      var stream = try await server.stream("news", headers: after(first))
      #expect(try await server.published("4") == first + 5)
      let events = [try await stream.next(), try await stream.next(), try await stream.next()]
      #expect(events.map { $0?.id } == [first + 1, first + 2, first + 3])
      #expect(events.map { $0?.data } == ["1", "2", "3"])
      #expect(try await stream.data(1) == ["4"])
      // A stream without an id begins with the newest one, as before the restart.
      var live = try await server.stream("other")
      #expect(try await live.nextBlock()?.id == first + 5)
      // What was stored before the start is not counted.
      #expect(try await server.metric("published_total") == 1)
    }
  }

  @Test func aClientIsToldThatItsIDIsNotOne() async throws {
    try await withServer { server in
      let last = try await server.published("1")
      for id in [0, last + 1, UInt64.max] {
        var stream = try await server.stream("news", headers: after(id))
        #expect(try await stream.next()?.event == "missed")
      }
    }
  }

  @Test func typesRetriesAndLineBreaksAreKept() async throws {
    let previous = Box<UInt64>(0)
    try await withServer { server in
      previous.value = try await server.published("before")
      let query = "?event=price&retry=1234"
      let answer = try await server.request(
        "POST", "/topics/news\(query)", body: .bytes(ByteBuffer(string: "a\r\nb\n\nä")))
      #expect(answer.status == 200)
      try await server.published("after")
    }
    // From the memory, and from the disk.
    for history in [128, 1] {
      try await withServer(history: history) { server in
        var stream = try await server.stream("news", headers: after(previous.value))
        let stored = try await stream.next()
        #expect(stored?.event == "price")
        #expect(stored?.retry == 1234)
        #expect(stored?.data == "a\nb\n\nä")
        #expect(try await stream.data(1) == ["after"])
      }
    }
  }

  @Test func olderEventsComeFromTheDiskPageByPage() async throws {
    let count = 3 * SQLiteStore.pageEvents + 7
    let first = Box<UInt64>(0)
    try await withServer { server in
      first.value = try await server.published("first")
      try await withThrowingTaskGroup { group in
        for number in 1...count {
          group.addTask { try await server.published("\(number)", to: "t\(number % 2)") }
        }
        try await group.waitForAll()
      }
    }
    // The memory has one event of each topic.
    try await withServer(history: 1) { server in
      for topic in 0..<2 {
        var stream = try await server.stream("t\(topic)", headers: after(first.value))
        var seen: [EventReader.Block] = []
        let expected = (1...count).filter { $0 % 2 == topic }
        while seen.count < expected.count, let event = try await stream.next() {
          seen.append(event)
        }
        #expect(seen.allSatisfy { $0.event == nil })
        #expect(seen.compactMap { $0.data.flatMap { Int($0) } }.sorted() == expected)
        let ids = seen.compactMap(\.id)
        #expect(zip(ids, ids.dropFirst()).allSatisfy { $0 < $1 })
      }
    }
  }

  /// Of one topic events are on the disk alone, between those of others that are in memory too.
  @Test(arguments: ["topic=busy&topic=quiet.x", "topic=busy&topic=quiet.*", "topic=%3E"])
  func aStreamOfSeveralTopicsGetsAllThatIsStored(_ query: String) async throws {
    let count = 2 * SQLiteStore.pageEvents + 9
    let first = Box<UInt64>(0)
    try await withServer(history: 2) { server in
      first.value = try await server.published("0", to: "busy")
      for start in stride(from: 1, to: count, by: 100) {
        let batch = (start..<min(count, start + 100)).map { number in
          #"{"topic":"\#(number % 50 == 7 ? "quiet.x" : "busy")","data":"\#(number)"}"#
        }
        let answer = try await server.publish(batch: batch.joined(separator: "\n"))
        try #require(answer.status == 200, "\(answer.body)")
      }
      try await expectAll(server, query, after: first.value, count)
    }
    try await withServer(history: 1) { server in
      try await expectAll(server, query, after: first.value, count)
      // A position in the middle, as after an interruption.
      try await expectAll(server, query, after: first.value, from: 300, count)
    }
  }

  private func expectAll(
    _ server: RunningServer, _ query: String, after first: UInt64, from start: Int = 0,
    _ count: Int
  ) async throws {
    var stream = try await server.events(query, headers: after(first + UInt64(start)))
    for number in start + 1..<count {
      let event = try #require(try await stream.next())
      try #require(event.event == nil, "\(event.data ?? "")")
      try #require(event.id == first + UInt64(number))
      let topic = number % 50 == 7 ? "quiet.x" : "busy"
      try #require(event.data == #"{"topic":"\#(topic)","data":"\#(number)"}"#)
    }
  }

  @Test func publishersIDsAreKnownAfterARestart() async throws {
    let first = Box<UInt64>(0)
    let key = [("Idempotency-Key", "k")]
    try await withServer { server in
      let answer = try await server.request(
        "POST", "/topics/news", key, body: .bytes(ByteBuffer(string: "1")))
      first.value = try #require(UInt64(answer.body.drop { !$0.isNumber }.prefix { $0.isNumber }))
    }
    try await withServer { server in
      let repeated = #"{"id":\#(first.value),"subscribers":0,"repeated":true}"# + "\n"
      let answer = try await server.request(
        "POST", "/topics/news", key, body: .bytes(ByteBuffer(string: "1")))
      #expect(answer.body == repeated)
      #expect(try await server.published("2") == first.value + 1)
    }
  }

  @Test func aStoreOfTheFirstVersionIsUpdated() async throws {
    let first = Box<UInt64>(0)
    try await withServer { first.value = try await $0.published("1") }
    do {
      let queue = try DatabaseQueue(path: folder.path("store/events.sqlite"))
      try await queue.write { db in
        try db.execute(
          sql: """
            DROP INDEX events_with_key; ALTER TABLE events DROP COLUMN key; PRAGMA user_version = 1
            """)
      }
      try queue.close()
    }
    try await withServer { server in
      var stream = try await server.stream("news", headers: after(first.value - 1))
      #expect(try await stream.data(1) == ["1"])
      let batch = #"{"topic":"news","data":"2","id":"k"}"#
      for _ in 0..<2 { #expect(try await server.publish(batch: batch).status == 200) }
      #expect(try await server.published("3") == first.value + 2)
    }
  }

  @Test func theOldestEventsLeaveWhenThereAreTooMany() async throws {
    var store = settings
    store.maxEvents = 10
    let ids = Box<[UInt64]>([])
    try await withServer(store) { server in
      for number in 0..<30 { ids.value.append(try await server.published("\(number)")) }
    }
    let last = ids.value[29]
    try await withServer(store) { server in
      var stream = try await server.stream("news", headers: after(ids.value[5]))
      #expect(
        try await stream.next()?.data
          == #"{"reason":"history","after":\#(ids.value[5]),"through":\#(last - 10)}"#)
      #expect(try await stream.data(10) == (20..<30).map(String.init))
      // A client that has the newest event that left misses none.
      var other = try await server.stream("news", headers: after(last - 10))
      #expect(try await other.data(10) == (20..<30).map(String.init))
    }
    let database = try EventDatabase(store)
    #expect(try database.newest(events: 99, bytes: .max).1.count == 10)
  }

  /// Runs a server, and gives its store and the log of that.
  private func withStore(
    _ database: EventDatabase? = nil,
    _ body: @escaping @Sendable (RunningServer, SQLiteStore) async throws -> Void
  ) async throws -> InMemoryLogHandler {
    let database = try database ?? EventDatabase(settings)
    let restored = try SQLiteStore.Restored(database, keys: 9)
    let log = InMemoryLogHandler()
    let store = Box<SQLiteStore?>(nil)
    let makeLog: @Sendable (Topics) -> any EventLog = { topics in
      let new = SQLiteStore(database, restored, topics, logger: Logger(label: "store") { _ in log })
      store.value = new
      return new
    }
    try await RunningServer.with(makeLog: makeLog) { server in
      try await body(server, try #require(store.value))
    }
    return log
  }

  /// Publications that always wait do not keep the writing thread from that.
  @Test func oldEventsLeaveWhileOthersAreStored() async throws {
    let time = Box<Int64>(1000)
    var settings = settings
    settings.maxAge = .seconds(60)
    let database = try EventDatabase(settings) { time.value }
    let topic = try Topic("news", limit: 9)
    let message = try #require(Message(ByteBuffer(string: "x")))
    _ = try await withStore(database) { _, store in
      let id = try await store.publish(message, to: topic).id
      func isKept() throws -> Bool {
        try database.page(
          of: .names(["news"]), after: id - 1, through: id, events: 1, bytes: 1) != nil
      }
      time.value = 2000
      // As many as one transaction takes.
      let batch = Array(repeating: Publication(message: message, topic: topic), count: 1024)
      try await withThrowingTaskGroup { group in
        for _ in 0..<8 {
          group.addTask { while !Task.isCancelled { _ = await store.publish(batch) } }
        }
        while try isKept() { try await Task.sleep(for: .milliseconds(50)) }
        group.cancelAll()
      }
    }
  }

  /// A client that leaves while the server reads for it is no error.
  @Test func aReadThatIsCancelledIsNotLogged() async throws {
    let log = try await withStore { _, store in
      let read = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return await store.page(
          of: ["news"], after: EventPosition(epoch: 1, number: 0), through: .max)
      }
      #expect(await read.value == nil)
    }
    #expect(log.entries.isEmpty, "\(log.entries)")
  }

  /// Each client that reconnects may need a page.
  /// While the files of the store are away, a client waits for its events, and misses none.
  @Test func pagesThatCannotBeReadAreOneMessageAndComeLater() async throws {
    let log = try await withStore { [folder] server, store in
      var ids: [UInt64] = []
      for text in ["a", "b", "c"] { ids.append(try await server.published(text)) }
      let (first, rest) = (EventPosition(epoch: 1, number: ids[0]), Array(ids[1...]))
      let (file, away) = (folder.path("store/events.sqlite"), folder.path("away"))
      try FileManager.default.moveItem(atPath: file, toPath: away)
      let isAnswered = Box(false)
      let pages = (0..<20).map { _ in
        Task {
          defer { isAnswered.value = true }
          return await store.page(of: ["news"], after: first, through: rest[1])
        }
      }
      // Longer than a store that can be written is given.
      try await Task.sleep(for: .seconds(7))
      #expect(!isAnswered.value)
      pages[0].cancel()
      #expect(await pages[0].value == nil)
      try FileManager.default.moveItem(atPath: away, toPath: file)
      for page in pages[1...] { #expect(await page.value?.elements.map(\.number) == rest) }
    }
    let messages = log.entries.map { "\($0.message)" }
    #expect(messages.count { $0.hasPrefix("events cannot be read: files of the store") } == 1)
    #expect(messages.count { $0.hasPrefix("events cannot be read") } == 1, "\(messages)")
  }

  /// Each client that does not read has one.
  @Test func aPageTakesLittleMemory() async throws {
    _ = try await withStore { server, store in
      let size = 30_000
      var ids: [UInt64] = []
      for _ in 0..<9 { ids.append(try await server.published(String(repeating: "x", count: size))) }
      let page = await store.page(
        of: ["news"], after: EventPosition(epoch: 1, number: ids[0]), through: ids[8])
      #expect(page?.elements.map(\.number) == Array(ids[1...3]))
    }
  }

  /// Publications that arrive while others are stored share the next transaction.
  @Test func waitingPublicationsAreTakenTogether() async throws {
    let publications = Publications()
    let message = try #require(Message(ByteBuffer(string: "12345")))
    let topic = try Topic("news", limit: 9)
    @Sendable func publish(_ count: Int = 1) async -> Publications.Admission {
      var admission = Publications.Admission.refused
      _ = await withCheckedContinuation { continuation in
        admission = publications.add(
          .init(
            events: Array(repeating: Publication(message: message, topic: topic), count: count),
            continuation: continuation))
        // The test takes nothing out of the results.
        continuation.resume(returning: .failure(Unavailable("")))
      }
      return admission
    }
    #expect(await publish() == .starts)
    for _ in 0..<9 { #expect(await publish() == .waits) }
    #expect(publications.take(events: 4, bytes: .max).count == 4)
    #expect(publications.take(events: 99, bytes: 11).count == 3)
    #expect(publications.take(events: 99, bytes: 1).count == 1)
    #expect(publications.take(events: 99, bytes: .max).count == 2)
    #expect(await publish() == .waits)
    #expect(publications.take(events: 9, bytes: 9).count == 1)
    #expect(publications.take(events: 9, bytes: 9).isEmpty)
    // Those of one batch stay together.
    #expect(await publish(5) == .starts)
    for count in [3, 2] { #expect(await publish(count) == .waits) }
    #expect(publications.take(events: 6, bytes: .max).map(\.events.count) == [5, 3])
    #expect(publications.take(events: 1, bytes: 1).map(\.events.count) == [2])
    #expect(publications.take(events: 9, bytes: 9).isEmpty)
    #expect(await publish() == .starts)
    // What waits is not taken in time.
    await publications.finish(within: .zero)
    await publications.finish(within: .zero)
    #expect(await publish() == .refused)
    #expect(publications.take(events: 9, bytes: 9).count == 1)
  }
}
