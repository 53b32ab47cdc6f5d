internal import FanOutCore
internal import Foundation
internal import GRDB
internal import NIOCore
internal import NIOFoundationCompat
internal import Synchronization

extension EventDatabase {
  /// How many events one step of a removal reads, at first and at most.
  private static let removalSteps = 16...1024
  /// How many events one transaction removes, if not to make room; it may be a step more.
  private static let removalLimit = 1024
  /// Bytes of pages that new events fill only in part.
  private static let slack = 64 << 10

  /// Stores `rows` in one transaction, and removes the oldest events for which there is no room.
  ///
  /// When this returns, the disk has them. After an error it has none of them, unless the disk
  /// failed.
  func store(_ rows: [Entry]) throws(StoreError) {
    try transaction { db, before, now in
      // Before, so that the file does not grow by what leaves it; and after, by what there is.
      let left = try before - remove(db, before, for: rows)
      try insert(db, rows, now)
      return try left + rows.count - remove(db, left + rows.count)
    }
    if let newest = rows.last { last.withLock { $0 = newest.id } }
  }

  /// Removes events that exceed the limits, in one transaction.
  ///
  /// Very many leave in several: one would make the write-ahead log as large as the database, for
  /// example when a server begins that did not run for longer than it keeps events. So publications
  /// can be stored in between, too.
  ///
  /// - Parameter isByAge: whether events that are too old leave too.
  /// - Returns: whether there may be more of them.
  @discardableResult
  func removeExcess(byAge isByAge: Bool) throws(StoreError) -> Bool {
    var removed = 0
    try transaction { db, before, _ in
      removed = try remove(
        db, before, olderThan: isByAge ? oldestTime : nil, atMost: Self.removalLimit)
      return before - removed
    }
    return removed >= Self.removalLimit
  }

  /// Runs a transaction.
  ///
  /// - Parameter body: gets the number of events and the time, and returns the number after it.
  private func transaction(
    _ body: (_ db: Database, _ count: Int, _ now: Int64) throws -> Int
  ) throws(StoreError) {
    do {
      let before = count.withLock { $0 }
      var after = before
      try pool.writeWithoutTransaction { db in
        try checkFiles(db)
        let now = now()
        try db.inTransaction(.immediate) {
          try correctTimes(db, now)
          after = try body(db, before, now)
          return .commit
        }
      }
      count.withLock { $0 = after }
    } catch {
      throw StoreError(error)
    }
  }

  private func insert(_ db: Database, _ rows: [Entry], _ now: Int64) throws {
    let insert = try db.cachedStatement(
      sql: """
        INSERT INTO events(id, topic, type, retry, seconds, data, key)
        VALUES (?, ?, ?, ?, ?, ?, ?)
        """)
    for row in rows {
      try insert.execute(arguments: [
        Int64(row.id), row.topic.name, row.message.type?.name, row.message.retryMilliseconds,
        now, Data(buffer: row.message.data), row.message.key?.text,
      ])
    }
  }

  /// Checks whether the disk takes `bytes` more.
  func probe(_ bytes: Int) throws(StoreError) {
    do {
      try pool.writeWithoutTransaction { db in
        try checkFiles(db)
        // Two transactions: what one inserts and deletes, it does not write.
        try db.inTransaction(.immediate) {
          try db.execute(sql: "DELETE FROM probe")
          try db.execute(sql: "INSERT INTO probe VALUES (zeroblob(?))", arguments: [bytes])
          return .commit
        }
        try db.inTransaction(.immediate) {
          try db.execute(sql: "DELETE FROM probe")
          return .commit
        }
      }
    } catch {
      throw StoreError(error)
    }
  }

  /// Fails if the store should not be written now.
  func check() throws(StoreError) {
    do {
      try pool.writeWithoutTransaction { try checkFiles($0) }
    } catch {
      throw StoreError(error)
    }
  }

  /// Fails if what the store writes would be lost, or would only make its log larger.
  private func checkFiles(_ db: Database) throws {
    try files.check()
    // SQLite empties the log after a transaction, but it ignores that it cannot, and it does not
    // wait for those who read.
    guard files.logBytes > settings.maxLogBytes else { return }
    do {
      try db.checkpoint(.truncate)
    } catch {
      throw StoreError.fullLog(StoreError(error))
    }
  }

  /// Removes the oldest events that exceed the limits, but not the newest event.
  ///
  /// - Parameters:
  ///   - count: the number of events.
  ///   - rows: events for which it makes room.
  ///   - oldest: events with earlier times leave too; `nil`: times do not matter.
  ///   - most: no step begins when it has removed as many.
  /// - Returns: how many it removed.
  private func remove(
    _ db: Database, _ count: Int, for rows: [Entry] = [], olderThan oldest: Int64? = nil,
    atMost most: Int = .max
  ) throws -> Int {
    var removed = 0
    let size = rows.isEmpty ? 0 : rows.reduce(Self.slack) { $0 + $1.bytes }
    var limit = Self.removalSteps.lowerBound
    while removed < most {
      var excess = count - removed + rows.count - settings.maxEvents
      var bytes = try usedBytes(db) + size - settings.maxBytes
      guard excess > 0 || bytes > 0 || oldest != nil else { return removed }
      let entries = try Entry.Removable.fetch(db, limit)
      let step = entries.dropLast(entries.count == count - removed ? 1 : 0).prefix { entry in
        defer {
          excess -= 1
          bytes -= entry.bytes
        }
        return excess > 0 || bytes > 0 || oldest.map { entry.seconds < $0 } ?? false
      }
      guard let through = step.last?.id else { return removed }
      try db.cachedStatement(sql: "DELETE FROM events WHERE id <= ?").execute(arguments: [through])
      try db.cachedStatement(sql: "UPDATE removed SET through = ?").execute(arguments: [through])
      removed += step.count
      limit = min(2 * limit, Self.removalSteps.upperBound)
    }
    return removed
  }

  /// Sets the times of the newest events to `now` if they are later, because the clock was set
  /// back: such an event, and what comes after it, would stay until then.
  private func correctTimes(_ db: Database, _ now: Int64) throws {
    let newest = try GRDB.Row.fetchOne(
      db.cachedStatement(sql: "SELECT id, seconds FROM events ORDER BY id DESC LIMIT 1"))
    guard let newest else { return }
    let seconds: Int64 = try newest.value(1, of: newest[0])
    guard seconds > now else { return }
    // Reads back to the first event that has a time which is right.
    try db.cachedStatement(
      sql: """
        UPDATE events SET seconds = ?1 WHERE id > ifnull(
          (SELECT id FROM events WHERE seconds <= ?1 ORDER BY id DESC LIMIT 1), 0)
        """
    ).execute(arguments: [now])
  }

  /// The bytes of the file, without its free pages, which the next events use.
  private func usedBytes(_ db: Database) throws -> Int {
    func number(_ name: String) throws -> Int {
      try Int.fetchOne(db.cachedStatement(sql: "PRAGMA \(name)")) ?? 0
    }
    return try (number("page_count") - number("freelist_count")) * number("page_size")
  }
}

extension EventDatabase.Entry {
  /// An estimate of the bytes that it takes: a long one has pages of its own.
  fileprivate var bytes: Int {
    let page = 4096
    let bytes = message.data.readableBytes + 2 * topic.name.utf8.count + 32
    return bytes < page ? bytes : (bytes + page - 1) / page * page
  }

  /// What a removal needs of an event.
  fileprivate struct Removable {
    var id: Int64
    var seconds: Int64
    /// An estimate of the bytes that it takes.
    var bytes: Int

    static func fetch(_ db: Database, _ limit: Int) throws -> [Removable] {
      let statement = try db.cachedStatement(
        sql: "SELECT id, seconds, length(data) + 2 * length(topic) FROM events ORDER BY id LIMIT ?")
      return try GRDB.Row.fetchAll(statement, arguments: [limit]).map { row in
        let id: Int64 = row[0]
        let (seconds, bytes): (Int64, Int) = try (row.value(1, of: id), row.value(2, of: id))
        return Removable(id: id, seconds: seconds, bytes: bytes + 32)
      }
    }
  }
}
