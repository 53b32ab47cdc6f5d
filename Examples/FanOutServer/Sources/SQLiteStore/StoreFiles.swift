internal import GRDB

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// The files of an open store, as they are on the disk.
///
/// A file that was removed or replaced stays open, and can still be written: but the next server
/// will not find what it contains.
struct StoreFiles: Sendable {
  /// A file, whatever its name is.
  private struct Identity: Equatable {
    var device: dev_t
    var number: ino_t
  }

  /// Each file when the store was opened.
  private let files: [(path: String, identity: Identity)]
  /// The write-ahead log.
  private let log: String

  /// - Parameters:
  ///   - folder: the folder of the store.
  ///   - db: a connection that has read the database.
  init(_ folder: String, _ db: Database) throws {
    // The log is beside the file, which `folder` may contain as a symbolic link.
    let path = try String.fetchOne(
      db, sql: "SELECT file FROM pragma_database_list WHERE name = 'main'")
    log = "\(path ?? "")-wal"
    // Without the index of the log, which other programs would make anew, these would not see what
    // this one writes, and might empty the log.
    let paths = ["\(folder)/lock", "\(folder)/events.sqlite", log, "\(path ?? "")-shm"]
    files = try paths.map { path in
      guard let status = Self.status(path) else { throw StoreError.moved }
      return (path, status.identity)
    }
  }

  /// Fails if one of the files is not at its place any more.
  func check() throws(StoreError) {
    for file in files where Self.status(file.path)?.identity != file.identity {
      throw .moved
    }
  }

  /// The size of the write-ahead log.
  var logBytes: Int { Self.status(log)?.bytes ?? 0 }

  private static func status(_ path: String) -> (identity: Identity, bytes: Int)? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    return (Identity(device: status.st_dev, number: status.st_ino), Int(status.st_size))
  }
}
