/// The tokens of a topic or of a pattern, in order. There is at least one, which may be empty.
struct TopicTokens {
  /// One token: a part of the text, as UTF-8.
  struct Token {
    let bytes: UnsafeRawBufferPointer
    let isASCII: Bool

    var isEmpty: Bool { bytes.isEmpty }
    /// Whether it is the wildcard for one token.
    var isStar: Bool { bytes.count == 1 && bytes[0] == UInt8(ascii: "*") }
    /// Whether it is the wildcard for one token or more.
    var isRest: Bool { bytes.count == 1 && bytes[0] == UInt8(ascii: ">") }
    /// The token as a string, which may be compared with any other.
    var text: String { String(decoding: bytes, as: UTF8.self) }
  }

  private let bytes: UnsafeRawBufferPointer
  /// The start of the next token; beyond the end if there is none.
  private var start = 0

  init(_ text: UnsafeBufferPointer<UInt8>) {
    bytes = UnsafeRawBufferPointer(text)
  }

  /// Whether there is no further token.
  var isAtEnd: Bool { start > bytes.count }

  /// The next token.
  ///
  /// - Complexity: O(token).
  mutating func next() -> Token? {
    guard !isAtEnd else { return nil }
    var (end, union) = (start, UInt8(0))
    while end < bytes.count, bytes[end] != UInt8(ascii: ".") {
      union |= bytes[end]
      end += 1
    }
    defer { start = end + 1 }
    return Token(
      bytes: UnsafeRawBufferPointer(rebasing: bytes[start..<end]), isASCII: union < 0x80)
  }

  /// Whether one of the further tokens is empty.
  func hasEmptyToken() -> Bool {
    var rest = self
    while let token = rest.next() {
      if token.isEmpty { return true }
    }
    return false
  }
}
