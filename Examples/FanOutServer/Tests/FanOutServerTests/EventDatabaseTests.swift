import FanOutCore
import Foundation
import GRDB
import Logging
import Multicast
import NIOCore
import Synchronization
import Testing

@testable import SQLiteStore

/// The database of a history on disk, without a server.
@Suite(.timeLimit(.minutes(5))) struct EventDatabaseTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private var settings: StoreSettings { StoreSettings(folder: folder.path("store")) }

  private func entry(_ id: UInt64, _ text: String = "x", topic: String = "news") throws
    -> EventDatabase.Entry
  {
    EventDatabase.Entry(
      id: id, topic: try Topic(topic, limit: 99),
      message: try #require(Message(ByteBuffer(string: text))))
  }

  /// A page of patterns reads so many events, whether they match or not.
  @Test func pagesOfPatternsContinueWhereTheLastOneEnded() throws {
    let database = try EventDatabase(settings)
    let start = database.last.withLock { $0 }
    let rows = 2 * EventDatabase.patternPageRows
    for first in stride(from: 1, through: rows, by: 1024) {
      try database.store(
        try (first..<first + 1024).map { number in
          try entry(start + UInt64(number), topic: number == rows ? "b.last" : "a")
        })
    }
    var position = start
    var pages = 0
    var found: [UInt64] = []
    while position < start + UInt64(rows) {
      let page = try #require(
        try database.page(
          of: .patterns(["b.*", "c"]), after: position, through: start + UInt64(rows), events: 9,
          bytes: 999))
      found += page.elements.map(\.number)
      try #require(page.through > position)
      position = page.through
      pages += 1
    }
    #expect(found == [start + UInt64(rows)] && pages == 2)
  }

  /// One that has left the store is not.
  @Test func theIDsOfStoredEventsAreKnown() throws {
    var limited = settings
    limited.maxEvents = 2
    let database = try EventDatabase(limited)
    let start = database.last.withLock { $0 }
    for number in 1...3 as ClosedRange<UInt64> {
      let message = Message(
        ByteBuffer(string: "x"), key: number == 2 ? nil : PublicationKey("k\(number)"))
      try database.store([
        EventDatabase.Entry(
          id: start + number, topic: try Topic("news", limit: 9), message: try #require(message))
      ])
    }
    #expect(try database.newestKeys(9).map(\.id) == [start + 3])
    #expect(try database.newestKeys(0).isEmpty)
  }

  /// Several topics have one order.
  @Test func aPageOfSeveralTopicsIsInOrder() throws {
    let database = try EventDatabase(settings)
    let start = database.last.withLock { $0 }
    try database.store((1...30).map { try entry(start + $0, "\($0)", topic: "t\($0 % 3)") })
    var position = start
    var numbers: [UInt64] = []
    while position < start + 30 {
      let page = try #require(
        try database.page(
          of: .names(["t0", "t2", "t9"]), after: position, through: start + 30, events: 4,
          bytes: 999))
      #expect(page.elements.count <= 4)
      #expect(page.through > position)
      numbers += page.elements.map(\.number)
      position = page.through
    }
    #expect(numbers == (1...30).filter { $0 % 3 != 1 }.map { start + $0 })
    // At least one event, however long.
    let page = try database.page(
      of: .names(["t0"]), after: start, through: start + 30, events: 4, bytes: 1)
    #expect(page?.elements.map(\.number) == [start + 3])
    #expect(page?.through == start + 3)
  }

  @Test(arguments: [(5, 10_000), (60, 10_000), (8, 60_000), (900, 300), (1, 1)])
  func theFileStaysWithinItsBytes(_ count: UInt64, _ bytes: Int) throws {
    var store = settings
    store.maxBytes = 1 << 20
    let database = try EventDatabase(store)
    let text = String(repeating: "x", count: bytes)
    for _ in 0..<(bytes == 1 ? 20 : 10_000_000 / (Int(count) * bytes)) {
      let last = database.last.withLock { $0 }
      try database.store((1...count).map { try entry(last + $0, text, topic: "t\($0)") })
    }
    let kept = try database.newest(events: 99_999, bytes: .max).1.count
    // Of 10 MB.
    #expect(bytes == 1 ? kept == 20 : (600_000...1_040_000).contains(kept * bytes), "\(kept)")
    database.close()
    let attributes = try FileManager.default.attributesOfItem(
      atPath: folder.path("store/events.sqlite"))
    let size = try #require(attributes[.size] as? Int)
    #expect(size <= 1 << 20, "\(size)")
  }

  @Test func theNewestEventStaysHoweverLongItIs() throws {
    var store = settings
    store.maxBytes = 1
    let database = try EventDatabase(store)
    let last = database.last.withLock { $0 }
    try database.store((1...5).map { try entry(last + $0) })
    #expect(try database.newest(events: 9, bytes: .max).1.map(\.id) == [last + 5])
  }

  @Test func oldEventsLeaveAndTheIDsContinue() throws {
    var store = settings
    store.maxAge = .seconds(10)
    let clock = Box<Int64>(1000)
    var database: EventDatabase? = try EventDatabase(store) { clock.value }
    let start = try #require(database).last.withLock { $0 }
    try database?.store([try entry(start + 1)])
    clock.value = 1005
    try database?.store([try entry(start + 2), try entry(start + 3)])
    clock.value = 1010
    try database?.removeExcess(byAge: true)
    #expect(try database?.newest(events: 9, bytes: .max).1.count == 3)
    clock.value = 1011
    try database?.removeExcess(byAge: true)
    #expect(try database?.newest(events: 9, bytes: .max).1.map(\.id) == [start + 2, start + 3])
    #expect(
      try database?.page(
        of: .names(["news"]), after: start, through: start + 3, events: 9, bytes: 9)
        == nil)
    clock.value = 9999
    try database?.removeExcess(byAge: true)
    // The newest event stays, and keeps its id.
    #expect(try database?.newest(events: 9, bytes: .max).1.map(\.id) == [start + 3])
    database?.close()
    database = nil
    #expect(try EventDatabase(store).last.withLock { $0 } == start + 3)
  }

  @Test func eventsFromAClockThatWasAheadLeaveInTime() throws {
    var store = settings
    store.maxAge = .seconds(10)
    let clock = Box<Int64>(1000)
    let database = try EventDatabase(store) { clock.value }
    let start = database.last.withLock { $0 }
    try database.store([try entry(start + 1)])
    clock.value = 9000
    try database.store([try entry(start + 2), try entry(start + 3)])
    clock.value = 1001
    try database.store([try entry(start + 4)])
    clock.value = 1005
    try database.store([try entry(start + 5)])
    clock.value = 1011
    try database.removeExcess(byAge: true)
    let ids = (2...5).map { start + $0 }
    #expect(try database.newest(events: 9, bytes: .max).1.map(\.id) == ids)
    clock.value = 1012
    try database.removeExcess(byAge: true)
    #expect(try database.newest(events: 9, bytes: .max).1.map(\.id) == [start + 5])
  }

  /// Those that became too old while no server ran leave only when one runs.
  @Test func oldEventsAreNotRestored() throws {
    var store = settings
    store.maxAge = .seconds(10)
    let clock = Box<Int64>(1000)
    let database = try EventDatabase(store) { clock.value }
    let start = database.last.withLock { $0 }
    try database.store([try entry(start + 1), try entry(start + 2)])
    clock.value = 1005
    try database.store([try entry(start + 3)])
    for (time, count) in [(1010, 3), (1011, 1), (1016, 0)] as [(Int64, Int)] {
      clock.value = time
      let restored = try SQLiteStore.Restored(database, keys: 9)
      #expect(restored.events.map(\.id) == Array((start + 1...start + 3).suffix(count)))
      #expect(restored.after == start + 3 - UInt64(count))
    }
  }

  /// Without a limit of age, times are correct too: there may be one after a restart.
  @Test func timesOfAClockThatWasAheadDoNotOutliveIt() throws {
    let clock = Box<Int64>(9000)
    var database = try EventDatabase(settings) { clock.value }
    let start = database.last.withLock { $0 }
    try database.store([try entry(start + 1)])
    clock.value = 1000
    try database.store([try entry(start + 2), try entry(start + 3)])
    database.close()
    var store = settings
    store.maxAge = .seconds(10)
    clock.value = 1011
    database = try EventDatabase(store) { clock.value }
    try database.removeExcess(byAge: true)
    #expect(try database.newest(events: 9, bytes: .max).1.map(\.id) == [start + 3])
  }

  /// One transaction would write most of the database to the log, for which there may be no space.
  @Test(arguments: [true, false]) func veryManyEventsLeaveWithASmallLog(byAge: Bool) throws {
    let count: UInt64 = 40_000
    let padding = String(repeating: "x", count: 80)
    let clock = Box<Int64>(1000)
    var database = try EventDatabase(settings) { clock.value }
    let start = database.last.withLock { $0 }
    for first in stride(from: 1, through: count, by: 1000) {
      // Neighbours in the index of topics are far from each other in the table.
      try database.store(
        try (first..<first + 1000).map { number in
          try entry(start + number, topic: "\(number * 7919 % count).\(padding)")
        })
    }
    database.close()
    var store = settings
    if byAge { store.maxAge = .seconds(10) } else { store.maxEvents = 10 }
    clock.value = 2000
    database = try EventDatabase(store) { clock.value }
    try database.store([try entry(start + count + 1)])
    while try database.removeExcess(byAge: true) {}
    let kept = try database.newest(events: 99, bytes: .max).1.map(\.id)
    #expect(kept == Array((start + count + 1 - (byAge ? 0 : 9))...(start + count + 1)))
    let bytes =
      try FileManager.default.attributesOfItem(
        atPath: folder.path("store/events.sqlite-wal"))[.size] as? Int
    #expect(try #require(bytes) < 8 << 20, "\(bytes ?? 0)")
  }

  @Test func whatAProbeLeftIsRemovedAtTheStart() throws {
    let database = try EventDatabase(settings)
    try database.pool.write { db in
      try db.execute(sql: "INSERT INTO probe VALUES (zeroblob(9))")
    }
    database.close()
    let left = try EventDatabase(settings).pool.read { db in
      try Int.fetchOne(db, sql: "SELECT count(*) FROM probe")
    }
    #expect(left == 0)
  }

  @Test func eachTransactionWaitsForTheDisk() throws {
    let database = try EventDatabase(settings)
    #expect(try database.pragma("journal_mode") == "wal")
    // FULL.
    #expect(try database.pragma("synchronous") == "2")
  }

  @Test func twoCannotUseOneFolder() throws {
    var database: EventDatabase? = try EventDatabase(settings)
    #expect(throws: StoreError("another server uses the folder '\(settings.folder)'")) {
      try EventDatabase(settings)
    }
    database?.close()
    database = nil
    _ = try EventDatabase(settings)
  }

  /// A transaction is stored as a whole or not at all.
  @Test func afterAnErrorNothingOfTheTransactionIsStored() throws {
    let database = try EventDatabase(settings)
    let last = database.last.withLock { $0 }
    try database.store([try entry(last + 1)])
    // The second id is taken.
    #expect(throws: StoreError.self) {
      try database.store([try entry(last + 2), try entry(last + 1)])
    }
    #expect(database.last.withLock { $0 } == last + 1)
    try database.store([try entry(last + 2, "again")])
    let page = try database.page(
      of: .names(["news"]), after: last, through: last + 2, events: 9, bytes: 99)
    #expect(page?.elements.map(\.number) == [last + 1, last + 2])
  }

  /// SQLite allows values of other types than that of the column, and an error of the disk may
  /// change the type.
  @Test(arguments: [
    "topic = x'ff'", "retry = 'x'", "data = 7", "key = x'ff'", "seconds = 'x'", "id = -5", "id = 0",
    "id = 9223372036854775807",
  ])
  func anEventThatIsNotValidIsAnError(_ change: String) throws {
    var limited = settings
    limited.maxAge = .seconds(1000)
    let last: UInt64
    do {
      let database = try EventDatabase(limited)
      defer { database.close() }
      last = database.last.withLock { $0 }
      try database.store([try entry(last + 1), try entry(last + 2)])
      try database.pool.write { db in
        try db.execute(sql: "UPDATE events SET \(change) WHERE id = \(last + 1)")
      }
    }
    let error = #expect(throws: StoreError.self) {
      let database = try EventDatabase(limited)
      defer { database.close() }
      _ = try SQLiteStore.Restored(database, keys: 9)
      try database.removeExcess(byAge: true)
    }
    let id = change.hasPrefix("id = ") ? String(change.dropFirst(5)) : "\(last + 1)"
    #expect(error?.description == "the store is damaged: event \(id) is not valid")
  }

  /// A client that resumes would not get it, and would not learn that it is missing.
  @Test func anEventThatTheIndexOfTopicsDoesNotHaveIsAnError() throws {
    do {
      let database = try EventDatabase(settings)
      defer { database.close() }
      let id = database.last.withLock { $0 } + 1
      try database.pool.writeWithoutTransaction { db in
        func defineIndex(where condition: String) throws {
          let index = "CREATE INDEX events_of_topic ON events(topic)\(condition)"
          try db.execute(sql: "PRAGMA writable_schema = ON")
          try db.execute(
            sql: "UPDATE sqlite_schema SET sql = ? WHERE name = 'events_of_topic'",
            arguments: [index])
          try db.execute(sql: "PRAGMA writable_schema = RESET")
        }
        try defineIndex(where: " WHERE topic ISNULL")
        try db.execute(
          sql: "INSERT INTO events(id, topic, seconds, data) VALUES (\(id), 'a', 1, x'31')")
        try defineIndex(where: "")
      }
    }
    let error = #expect(throws: StoreError.self) { try EventDatabase(settings) }
    #expect(error?.description.hasPrefix("the store is damaged: row ") == true)
  }

  /// Otherwise there would be no id for the next event.
  @Test func aRemovedEventWithAnImpossibleIDIsAnError() throws {
    let id = Int64.max - 1
    do {
      let database = try EventDatabase(settings)
      defer { database.close() }
      try database.pool.write { db in
        try db.execute(sql: "UPDATE removed SET through = \(id)")
      }
    }
    let error = #expect(throws: StoreError.self) { try EventDatabase(settings) }
    #expect(error?.description == "the store is damaged: event \(id) is not valid")
  }

  /// As a number, it would be 0, and what was removed would not be missing.
  @Test(arguments: ["'x'", "x'07'"]) func aRemovedEventWithoutANumberIsAnError(_ id: String) throws
  {
    do {
      let database = try EventDatabase(settings)
      defer { database.close() }
      try database.pool.write { db in try db.execute(sql: "UPDATE removed SET through = \(id)") }
    }
    let error = #expect(throws: StoreError.self) { try EventDatabase(settings) }
    #expect(
      error?.description
        == "the store is damaged: the id of the last removed event is not valid")
  }
}
