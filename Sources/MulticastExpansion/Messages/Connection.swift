import Foundation

/// Frames on standard input and output: eight bytes of length, little endian, then JSON.
struct Connection {
  private let input: FileHandle
  private let output: FileHandle

  /// The largest message that is read: more is not a message of a compiler.
  static var largestFrame: UInt64 { 1 << 30 }

  init(input: FileHandle = .standardInput, output: FileHandle = .standardOutput) {
    self.input = input
    self.output = output
  }

  /// The next message, or `nil` at the end of the input, for an empty frame, and for one that is
  /// cut off or too long.
  func receive() -> Data? {
    guard let header = read(8) else { return nil }
    let count = header.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    guard count > 0, count <= Connection.largestFrame else { return nil }
    return read(Int(count))
  }

  func send(_ message: Data) {
    var frame = Data()
    for byte in 0..<8 { frame.append(UInt8(truncatingIfNeeded: message.count >> (8 * byte))) }
    frame.append(message)
    // The compiler has gone if this fails; the next read ends the program.
    try? output.write(contentsOf: frame)
  }

  /// Exactly `count` bytes, or `nil` if the input ends before.
  private func read(_ count: Int) -> Data? {
    var data = Data()
    while data.count < count {
      guard let part = try? input.read(upToCount: count - data.count), !part.isEmpty else {
        return nil
      }
      data.append(part)
    }
    return data
  }
}
