import Foundation

/// A file that is open for reading. `deinit` closes it.
struct InputFile: ~Copyable {
  let name: String
  private let descriptor: Int32
  private let closes: Bool

  /// Opens the file at `path`.
  init(path: String) throws {
    name = path
    descriptor = open(path, O_RDONLY | O_CLOEXEC)
    closes = true
    guard descriptor >= 0 else { throw DemoError.system("cannot read \(path)", errno) }
  }

  /// Takes a file that is open already, and leaves it open.
  init(descriptor: Int32, name: String) {
    self.name = name
    self.descriptor = descriptor
    closes = false
  }

  deinit {
    if closes { close(descriptor) }
  }
}

extension InputFile {
  static var standardInput: InputFile {
    InputFile(descriptor: STDIN_FILENO, name: "standard input")
  }

  /// Whether standard input is neither a terminal nor closed nor `/dev/null`, but something to
  /// read.
  static var standardInputHasContent: Bool {
    var status = stat()
    return fstat(STDIN_FILENO, &status) == 0 && status.st_mode & S_IFMT != S_IFCHR
  }

  var identity: FileIdentity? {
    FileIdentity(ofRegularFile: descriptor)
  }

  /// Reads what is available, and waits if nothing is.
  ///
  /// - Returns: whether there was anything; `false` at the end of the file.
  func read(appendingTo bytes: inout [UInt8], limit: Int = 1 << 16) throws -> Bool {
    let chunk = try [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
      var length: Int
      repeat {
        length = Foundation.read(descriptor, buffer.baseAddress, limit)
      } while length < 0 && errno == EINTR
      guard length >= 0 else { throw DemoError.system("cannot read \(name)", errno) }
      // SAFETY: `read` has written that many bytes.
      count = length
    }
    bytes += chunk
    return !chunk.isEmpty
  }
}
