#if os(Linux)
  import ChildProcess
  import Foundation
  import Testing

  /// A file system of a few megabytes in memory.
  final class SmallDisk {
    private static let mount = "/usr/bin/mount"
    private static let unmount = "/usr/bin/umount"

    /// Whether this process may mount file systems.
    static let isPossible: Bool = {
      guard geteuid() == 0 else { return false }
      return (try? SmallDisk(megabytes: 1)) != nil
    }()

    private let folder: TemporaryFolder
    let url: URL

    init(megabytes: Int) throws {
      folder = try TemporaryFolder()
      url = folder.url.appending(path: "disk")
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
      try Self.run(Self.mount, "-t", "tmpfs", "-o", "size=\(megabytes)m", "tmpfs", url.path())
    }

    /// Makes a file read-only, for the superuser too.
    func freeze(_ file: URL) throws {
      try Self.run(Self.mount, "--bind", file.path(), file.path())
      try Self.run(Self.mount, "-o", "remount,bind,ro", file.path())
    }

    deinit { try? Self.run(Self.unmount, "-l", url.path()) }

    private static func run(_ program: String, _ arguments: String...) throws {
      try #require(ChildProcess(program, arguments).wait() == 0)
    }
  }
#endif
