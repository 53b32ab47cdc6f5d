#if NATS
  import Foundation

  /// A file with credentials for the broker.
  struct CredentialsFile {
    let path: String

    init(_ text: String) throws {
      let folder = FileManager.default.temporaryDirectory
      path = folder.appending(path: "credentials-\(UUID().uuidString)").path()
      try write(text)
    }

    func write(_ text: String) throws {
      try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }
  }
#endif
