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

  /// Writes `text` and closes the file.
  func write(_ text: String) throws(OptionError) {
    let written = fputs(text, file) >= 0
    guard fclose(file) == 0, written else {
      throw OptionError(message: "cannot write '\(path)': \(String(cString: strerror(errno)))")
    }
  }
}
