/// Standard output or standard error, without a buffer.
struct Console {
  static let output = Console(descriptor: STDOUT_FILENO)
  /// For progress and errors.
  static let error = Console(descriptor: STDERR_FILENO)

  private let descriptor: Int32

  func print(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }
}
