internal import GRDB

/// Why the store cannot be opened, read or written: one line.
public struct StoreError: Error, Hashable, CustomStringConvertible {
  public let description: String
  /// Whether the store may be opened nevertheless, because it may become writable.
  let isTemporary: Bool

  init(_ description: String, isTemporary: Bool = false) {
    self.description = description
    self.isTemporary = isTemporary
  }
}

extension StoreError {
  static let noSpace = StoreError("the store has no space left", isTemporary: true)
  static let moved = StoreError(
    "files of the store were removed or replaced: move them back, or start the server again")

  /// - Parameter error: why the write-ahead log cannot be emptied.
  static func fullLog(_ error: StoreError) -> StoreError {
    guard error != .noSpace else { return error }
    return StoreError(
      "the write-ahead log of the store is full, because it cannot be written to the database: "
        + error.description, isTemporary: true)
  }

  /// The event `id` of the store has a value that no event has.
  static func notValid(_ id: Int64) -> StoreError {
    StoreError("the store is damaged: event \(id) is not valid")
  }

  /// - Parameter error: one of the database.
  init(_ error: any Error) {
    if let error = error as? StoreError {
      self = error
      return
    }
    guard let error = error as? DatabaseError else {
      self.init("\(error)")
      return
    }
    switch error.resultCode {
    case .SQLITE_FULL: self = .noSpace
    case .SQLITE_NOTADB: self.init("the store is damaged: it is not a database")
    case .SQLITE_CORRUPT: self.init("the store is damaged: \(Self.reason(error))")
    case .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_CANTOPEN:
      self.init("the store cannot be written: \(Self.reason(error))")
    case .SQLITE_BUSY: self.init("another program uses the database: end it")
    case .SQLITE_IOERR: self.init("the disk of the store has an error: \(Self.reason(error))")
    default: self.init("the store has an error: \(Self.reason(error))")
    }
  }

  /// Without the statement.
  private static func reason(_ error: DatabaseError) -> String {
    "\(error.message ?? "no reason") (SQLite \(error.extendedResultCode.rawValue))"
  }
}
