#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// A file that is about to be written.
struct OutputFile {
  private let path: String
  private let file: UnsafeMutablePointer<FILE>

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
