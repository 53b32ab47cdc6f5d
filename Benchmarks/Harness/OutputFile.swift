/// A file that is about to be written.
struct OutputFile {
  #if canImport(Musl) || canImport(Android)
    private typealias Stream = OpaquePointer
  #else
    private typealias Stream = UnsafeMutablePointer<FILE>
  #endif

  private let path: String
  private let file: Stream

  /// Opens `path`, and leaves what it contains.
  init(_ path: String) throws(OptionError) {
    guard let file = fopen(path, "a") else { throw Self.error(path) }
    self.path = path
    self.file = file
  }

  /// Whether both are the same file, and not a terminal or another device.
  func isSame(as other: OutputFile) -> Bool {
    guard let mine = regular, let its = other.regular else { return false }
    return mine.st_dev == its.st_dev && mine.st_ino == its.st_ino
  }

  /// Removes what an earlier run has written.
  func clear() throws(OptionError) {
    guard regular == nil || ftruncate(fileno(file), 0) == 0 else { throw Self.error(path) }
  }

  /// What the system says of the file; `nil` for a pipe, a terminal or another device.
  private var regular: stat? {
    var status = stat()
    return fstat(fileno(file), &status) == 0 && status.st_mode & S_IFMT == S_IFREG ? status : nil
  }

  /// What the operating system says of the last call.
  private static func error(_ path: String) -> OptionError {
    OptionError(message: "cannot write '\(path)': \(String(cString: strerror(errno)))")
  }

  /// Writes `text` and closes the file.
  func write(_ text: String) throws(OptionError) {
    let written = fputs(text, file) >= 0
    guard fclose(file) == 0, written else { throw Self.error(path) }
  }
}
