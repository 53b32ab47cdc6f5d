/// The data of an event: its number, the time of sending, and padding.
///
/// `0000000000000007 00000d3f5a1b2c40 xxxxx…`: two numbers in hexadecimal digits.
struct Payload: Equatable {
  /// Events are numbered from 0.
  var sequence: Int
  /// The time of publishing, in nanoseconds of the monotonic clock.
  var sentAt: UInt64

  static let minimumSize = 33
  private static let digits = 16
}

extension Payload {
  /// Reads the numbers at the start of the data of an event; `nil` if there are none.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= Self.minimumSize, bytes[Self.digits] == UInt8(ascii: " "),
      let sequence = Self.number(bytes, at: 0),
      let sentAt = Self.number(bytes, at: Self.digits + 1),
      let sequence = Int(exactly: sequence)
    else { return nil }
    self.init(sequence: sequence, sentAt: sentAt)
  }

  /// The data of an event, of `size` bytes.
  func encoded(size: Int) -> [UInt8] {
    precondition(size >= Self.minimumSize, "a payload needs at least 33 bytes, not \(size)")
    var bytes = [UInt8](repeating: UInt8(ascii: "x"), count: size)
    Self.write(UInt64(sequence), to: &bytes, at: 0)
    bytes[Self.digits] = UInt8(ascii: " ")
    Self.write(sentAt, to: &bytes, at: Self.digits + 1)
    if size > Self.minimumSize { bytes[Self.minimumSize] = UInt8(ascii: " ") }
    return bytes
  }

  private static func number(_ bytes: UnsafeRawBufferPointer, at start: Int) -> UInt64? {
    var number: UInt64 = 0
    for index in start..<(start + digits) {
      guard let digit = bytes[index].hexDigit else { return nil }
      number = number << 4 | UInt64(digit)
    }
    return number
  }

  private static func write(_ number: UInt64, to bytes: inout [UInt8], at start: Int) {
    var rest = number
    for index in (start..<(start + digits)).reversed() {
      bytes[index] = hexDigits[Int(rest & 0xF)]
      rest >>= 4
    }
  }

  private static let hexDigits = Array("0123456789abcdef".utf8)
}
