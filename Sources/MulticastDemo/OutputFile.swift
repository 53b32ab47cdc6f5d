import Foundation

/// A file that is open for writing, with a buffer. `deinit` closes it.
///
/// `deinit` does not write the buffer, because it could not report an error: call ``flush()``.
struct OutputFile: ~Copyable {
  private let name: String
  private let descriptor: Int32
  private let closes: Bool
  private var buffer: [UInt8] = []

  private static let bufferSize = 1 << 16

  /// Opens the file at `path`. Creates it if it does not exist, otherwise empties it.
  ///
  /// - Parameter input: the file that is being read, which must not be emptied.
  init(path: String, sparing input: FileIdentity? = nil) throws {
    name = path
    descriptor = Self.open(path)
    closes = true
    guard descriptor >= 0 else { throw DemoError.system("cannot write \(path)", errno) }
    // Only a regular file can be emptied. Others, a pipe say, do not need it.
    guard let identity = FileIdentity(ofRegularFile: descriptor) else { return }
    guard identity != input else {
      throw DemoError.failure("cannot write \(path): it is the input")
    }
    // Both begin at the start of the file, so one would overwrite the other.
    guard identity != FileIdentity(ofRegularFile: STDOUT_FILENO) else {
      throw DemoError.failure("cannot write \(path): the report is printed there")
    }
    guard ftruncate(descriptor, 0) == 0 else {
      throw DemoError.system("cannot write \(path)", errno)
    }
  }

  /// Opens the file with a number above those of the standard files: of these, one that is closed
  /// leaves its number to this file, and what is printed there would follow.
  private static func open(_ path: String) -> Int32 {
    let descriptor = Foundation.open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o666)
    guard (0...STDERR_FILENO).contains(descriptor) else { return descriptor }
    defer { close(descriptor) }
    return fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
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

extension OutputFile {
  /// Writes a line. It reaches the file when the buffer is full, or with ``flush()``.
  mutating func write(line: some Collection<UInt8>) throws {
    buffer += line
    buffer.append(UInt8(ascii: "\n"))
    if buffer.count >= Self.bufferSize { try flush() }
  }

  /// Writes what is in the buffer.
  mutating func flush() throws {
    // What could not be written is not tried again, so an error is reported once.
    defer { buffer.removeAll(keepingCapacity: true) }
    try buffer.withUnsafeBytes { buffer in
      var written = 0
      while written < buffer.count {
        let count = Foundation.write(
          descriptor, buffer.baseAddress! + written, buffer.count - written)
        if count >= 0 {
          written += count
        } else if errno != EINTR {
          throw DemoError.system("cannot write \(name)", errno)
        }
      }
    }
  }
}
