/// A file that is about to be written.
struct OutputFile {
  #if canImport(Musl) || canImport(Android)
    private typealias Stream = OpaquePointer
  #else
    private typealias Stream = UnsafeMutablePointer<FILE>
  #endif

  private let path: String
  private let file: Stream

  /// Opens `path`, and empties it.
  init(_ path: String) throws(OptionError) {
    guard let file = fopen(path, "w") else {
      throw OptionError(message: "cannot write '\(path)': \(String(cString: strerror(errno)))")
    }
    self.path = path
    self.file = file
  }

  /// Whether both are the same file, and not a terminal or another device.
  func isSame(as other: OutputFile) -> Bool {
    var (mine, its) = (stat(), stat())
    return fstat(fileno(file), &mine) == 0 && fstat(fileno(other.file), &its) == 0
      && mine.st_mode & S_IFMT == S_IFREG && mine.st_dev == its.st_dev && mine.st_ino == its.st_ino
  }

  /// Writes `text` and closes the file.
  func write(_ text: String) throws(OptionError) {
    let written = fputs(text, file) >= 0
    guard fclose(file) == 0, written else {
      throw OptionError(message: "cannot write '\(path)': \(String(cString: strerror(errno)))")
    }
  }
}
