internal import FanOutCore
internal import Foundation
internal import GRDB
internal import Multicast
internal import NIOCore
internal import NIOFoundationCompat
internal import Synchronization

extension EventDatabase {
  /// How many events one page of patterns reads, of all topics: the next page continues after them.
  static let patternPageRows = 16_384

  /// The topics of a page.
  enum StoredTopics {
    case names([String])
    case patterns([TopicPattern])
  }

  /// The first events of `topics` after `id`, up to `last`.
  ///
  /// - Returns: `nil` if some of them may have been removed.
  func page(
    of topics: StoredTopics, after id: EventID, through last: EventID, events limit: Int, bytes: Int
  ) throws(StoreError) -> ExternalPage<Event>? {
    do {
      // Another connection to the database would read what is at its place now.
      try files.check()
      return try pool.read { db in
        guard EventID(clamping: try Self.removed(db)) <= id else { return nil }
        let range = Int64(clamping: id)...Int64(clamping: last)
        let (ids, reached) =
          switch topics {
          case .names(let names): (try Self.ids(db, of: names, in: range, limit), last)
          case .patterns(let patterns): try Self.ids(db, matching: patterns, in: range, limit)
          }
        var elements: [ExternalPage<Event>.Element] = []
        var size = 0
        for id in ids.prefix(limit) where size < bytes {
          let event = try Self.event(db, id)
          size += event.bytes
          elements.append(.init(topic: event.topic, event: event.event, number: event.event.id))
        }
        let isComplete = elements.count == ids.count
        return ExternalPage(elements, through: isComplete ? reached : elements.last?.number ?? last)
      }
    } catch {
      throw StoreError(error)
    }
  }

  /// The newest events in order, without a gap, and the id before the first of them.
  ///
  /// - Parameter oldest: events with earlier times, which are to be removed, are not among them.
  func newest(
    events limit: Int, bytes: Int, since oldest: Int64? = nil
  ) throws(StoreError) -> (after: EventID, [Event]) {
    do {
      return try pool.read { db in
        let rows = try GRDB.Row.fetchAll(
          db, sql: "SELECT id, seconds FROM events ORDER BY id DESC LIMIT ?", arguments: [limit])
        var events: [Event] = []
        var size = 0
        for row in rows where size < bytes {
          let id: Int64 = row[0]
          let seconds: Int64 = try row.value(1, of: id)
          if let oldest, seconds < oldest { break }
          let event = try Self.event(db, id)
          size += event.bytes
          events.append(event.event)
        }
        let after = events.last.map { $0.id - 1 } ?? last.withLock { $0 }
        return (after, events.reversed())
      }
    } catch {
      throw StoreError(error)
    }
  }

  /// The newest events whose publishers gave them a key, the oldest of them first.
  func newestKeys(_ limit: Int) throws(StoreError) -> [KeyedEvent] {
    do {
      return try pool.read { db in
        try GRDB.Row.fetchAll(
          db, sql: "SELECT id, topic, key FROM events WHERE key NOT NULL ORDER BY id DESC LIMIT ?",
          arguments: [limit]
        ).reversed().map { row in
          let id: Int64 = row[0]
          let (name, text): (String, String) = try (row.value(1, of: id), row.value(2, of: id))
          guard let topic = try? Topic(name, limit: .max), let key = PublicationKey(text) else {
            throw StoreError.notValid(id)
          }
          return KeyedEvent(id: EventID(id), topic: topic, key: key)
        }
      }
    } catch {
      throw StoreError(error)
    }
  }

  /// The value of a setting of the writing connection.
  func pragma(_ name: String) throws -> String? {
    try pool.writeWithoutTransaction { try String.fetchOne($0, sql: "PRAGMA \(name)") }
  }

  /// The first ids of events of `topics`: one more than `limit`, if there are as many.
  ///
  /// - Parameter range: from the id before the first one.
  private static func ids(
    _ db: Database, of topics: [String], in range: ClosedRange<Int64>, _ limit: Int
  ) throws -> ArraySlice<Int64> {
    // In the order of the index, which has the ids of each topic.
    let statement = try db.cachedStatement(
      sql: "SELECT id FROM events WHERE topic = ? AND id > ? AND id <= ? ORDER BY id LIMIT ?")
    var ids: [Int64] = []
    for topic in topics {
      ids += try Int64.fetchAll(
        statement, arguments: [topic, range.lowerBound, range.upperBound, limit + 1])
    }
    if topics.count > 1 { ids.sort() }
    return ids.prefix(limit + 1)
  }

  /// As ``ids(_:of:in:_:)``, of the topics that at least one of `patterns` matches, as far as one
  /// page reads.
  ///
  /// - Returns: the ids, and the last id that was read.
  private static func ids(
    _ db: Database, matching patterns: [TopicPattern], in range: ClosedRange<Int64>, _ limit: Int
  ) throws -> (ids: ArraySlice<Int64>, through: EventID) {
    let statement = try db.cachedStatement(
      sql: "SELECT id, topic FROM events WHERE id > ? AND id <= ? ORDER BY id")
    let rows = try GRDB.Row.fetchCursor(
      statement, arguments: [range.lowerBound, range.upperBound])
    var ids: [Int64] = []
    var count = 0
    while ids.count <= limit, let row = try rows.next() {
      let id: Int64 = row[0]
      let topic: String = try row.value(1, of: id)
      if patterns.contains(where: { $0.matches(topic) }) { ids.append(id) }
      count += 1
      if count == patternPageRows { return (ids[...], EventID(id)) }
    }
    return (ids[...], EventID(range.upperBound))
  }

  private static func event(
    _ db: Database, _ id: Int64
  ) throws -> (topic: String, event: Event, bytes: Int) {
    let statement = try db.cachedStatement(
      sql: "SELECT topic, type, retry, data FROM events WHERE id = ?")
    guard let row = try GRDB.Row.fetchOne(statement, arguments: [id]) else {
      throw StoreError.notValid(id)
    }
    let (name, type): (String, String?) = try (row.value(0, of: id), row.value(1, of: id))
    let (retry, data): (Int?, Data) = try (row.value(2, of: id), row.value(3, of: id))
    guard let topic = try? Topic(name, limit: .max),
      let message = Message(
        ByteBuffer(data: data), type: type.flatMap { EventType($0) }, retryMilliseconds: retry)
    else { throw StoreError.notValid(id) }
    return (name, Event(id: EventID(id), topic: topic, message: message), data.count)
  }

  /// Closes the files. From now on another server can use them.
  func close() {
    // The last connection to close is one that reads, which does not empty the write-ahead log.
    try? pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    try? pool.close()
    lock.release()
  }
}

extension GRDB.Row {
  /// The value of a column. SQLite allows values of other types than that of the column, so damage
  /// may change the type.
  ///
  /// - Parameter id: the event of the row, for the error.
  func value<Value: DatabaseValueConvertible & StatementColumnConvertible>(
    _ index: Int, of id: Int64
  ) throws(StoreError) -> Value {
    do {
      return try decode(Value.self, atIndex: index)
    } catch {
      throw .notValid(id)
    }
  }
}
