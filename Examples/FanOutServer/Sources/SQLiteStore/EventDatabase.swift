internal import FanOutCore
internal import Foundation
internal import GRDB
internal import Synchronization

/// The events on disk: a database of SQLite with a write-ahead log.
///
/// One thread at a time writes; any number read.
public final class EventDatabase: Sendable {
  /// An event that is to be stored.
  struct Entry {
    var id: EventID
    var topic: Topic
    var message: Message
  }

  /// An event whose publisher gave it a key.
  struct KeyedEvent {
    var id: EventID
    var topic: Topic
    var key: PublicationKey
  }

  /// Identifies the file as one of this server, in its header.
  private static let applicationID = 0x4661_6e4f
  private static let version = 2
  /// No event has a higher id: the next ones are numbers of SQLite too.
  private static let highestID = Int64.max / 2
  /// What version 2 has more than version 1.
  private static let keys = "CREATE INDEX events_with_key ON events(id) WHERE key NOT NULL;"

  let settings: StoreSettings
  /// The seconds since 1970.
  let now: @Sendable () -> Int64
  let lock: FolderLock
  let pool: DatabasePool
  let files: StoreFiles
  /// The id of the newest stored event, or the one before the first.
  let last: Mutex<EventID>
  /// The number of stored events. Only the writing thread uses it.
  let count: Mutex<Int>

  /// Opens the store, or creates it.
  ///
  /// It reads the whole database once to find damage, which takes some seconds for a gigabyte.
  public convenience init(_ settings: StoreSettings) throws(StoreError) {
    try self.init(settings) { Int64(Date.now.timeIntervalSince1970) }
  }

  init(_ settings: StoreSettings, now: @escaping @Sendable () -> Int64) throws(StoreError) {
    self.settings = settings
    self.now = now
    lock = try FolderLock(settings.folder)
    do {
      var configuration = Configuration()
      configuration.busyMode = .timeout(settings.patience)
      configuration.maximumReaderCount = SQLiteStore.readingThreads
      configuration.prepareDatabase { db in
        // Before the first write, so that it counts for a new file.
        try db.execute(sql: "PRAGMA journal_size_limit = 16777216")
      }
      let pool = try DatabasePool(
        path: "\(settings.folder)/events.sqlite", configuration: configuration)
      self.pool = pool
      let (last, count, files) = try pool.writeWithoutTransaction { db in
        // Each commit waits for the disk.
        try db.execute(sql: "PRAGMA synchronous = FULL")
        try Self.check(db)
        try Self.createTables(db)
        try Self.checkWritable(db)
        let (last, count) = try Self.state(db)
        return (last, count, try StoreFiles(settings.folder, db))
      }
      self.files = files
      self.last = Mutex(last)
      self.count = Mutex(count)
    } catch {
      throw StoreError(error)
    }
    // The limits may be lower than before.
    do throws(StoreError) {
      while try removeExcess(byAge: false) {}
    } catch {
      // There may be space later.
      guard error.isTemporary else { throw error }
    }
  }
}

extension EventDatabase {
  var removesOldEvents: Bool { settings.maxAge != nil }

  /// Events with earlier times are too old; `nil`: none is.
  var oldestTime: Int64? { settings.maxAge.map { now() - $0.components.seconds } }
}

// MARK: - Opening

extension EventDatabase {
  private static func check(_ db: Database) throws {
    // Not `quick_check`, which is faster but does not find an event that an index does not have.
    let found = try String.fetchOne(db, sql: "PRAGMA integrity_check(1)") ?? "no answer"
    guard found == "ok" else {
      throw StoreError("the store is damaged: \(found.split(separator: "\n").last ?? "")")
    }
  }

  private static func createTables(_ db: Database) throws {
    let application = try Int.fetchOne(db, sql: "PRAGMA application_id")
    let version = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
    let tables = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema") ?? 0
    guard tables > 0 else {
      // An id of another store is not one of this store, because clocks advance.
      let start = Int64(clamping: EventID.microsecondsSince1970)
      return try db.inTransaction(.immediate) {
        try db.execute(
          sql: """
            PRAGMA application_id = \(applicationID);
            PRAGMA user_version = \(Self.version);
            CREATE TABLE events(
              id INTEGER PRIMARY KEY, topic TEXT NOT NULL, type TEXT, retry INTEGER,
              seconds INTEGER NOT NULL, data BLOB NOT NULL, key TEXT);
            \(keys)
            CREATE INDEX events_of_topic ON events(topic);
            CREATE TABLE removed(through INTEGER NOT NULL);
            INSERT INTO removed VALUES (\(start));
            CREATE TABLE probe(data BLOB NOT NULL);
            """)
        return .commit
      }
    }
    guard application == applicationID else {
      throw StoreError("the store is damaged: it is the database of another program")
    }
    guard version != 1 else { return try addKeys(db) }
    guard version == Self.version else {
      throw StoreError("the store has the format \(version), and this server knows \(Self.version)")
    }
  }

  /// Updates a store of version 1.
  private static func addKeys(_ db: Database) throws {
    try db.inTransaction(.immediate) {
      try db.execute(
        sql: "ALTER TABLE events ADD COLUMN key TEXT; \(keys) PRAGMA user_version = \(version)")
      return .commit
    }
  }

  /// Fails if one of the files is read-only: SQLite opens them nevertheless. Removes what is left
  /// of a probe.
  private static func checkWritable(_ db: Database) throws {
    do {
      try db.execute(sql: "DELETE FROM probe")
    } catch {
      // There may be space later.
      guard StoreError(error) == .noSpace else { throw error }
    }
  }

  private static func state(_ db: Database) throws -> (last: EventID, count: Int) {
    let oldest = try Int64.fetchOne(db, sql: "SELECT min(id) FROM events")
    if let oldest, oldest <= 0 { throw StoreError.notValid(oldest) }
    let newest = try Int64.fetchOne(db, sql: "SELECT max(id) FROM events")
    let last = try max(newest ?? 0, removed(db))
    if last > highestID { throw StoreError.notValid(last) }
    let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM events") ?? 0
    return (EventID(clamping: last), count)
  }

  /// The id of the newest event that the store does not have any more.
  static func removed(_ db: Database) throws -> Int64 {
    let statement = try db.cachedStatement(sql: "SELECT through FROM removed")
    guard let row = try GRDB.Row.fetchOne(statement) else {
      throw StoreError("the store is damaged: a table is empty")
    }
    do {
      return try row.decode(Int64.self, atIndex: 0)
    } catch {
      // SQLite would make it 0, and clients would not learn what they miss.
      throw StoreError("the store is damaged: the id of the last removed event is not valid")
    }
  }
}
