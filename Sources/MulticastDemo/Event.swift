/// One line of the input, as it came: bytes, which need not be valid UTF-8, without the newline.
struct Event: Sendable, Equatable {
  let bytes: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
  }

  init(_ text: String) {
    self.init(Array(text.utf8)[...])
  }
}

extension Event {
  /// The field with this number, counting from one; `nil` if there are fewer. Blanks separate
  /// fields.
  func field(_ number: Int) -> String? {
    var rest = bytes.drop(while: Self.isBlank)
    for _ in 1..<number {
      rest = rest.drop { !Self.isBlank($0) }.drop(while: Self.isBlank)
    }
    let field = rest.prefix { !Self.isBlank($0) }
    return field.isEmpty ? nil : String(decoding: field, as: UTF8.self)
  }

  /// Whether `text` occurs in the line.
  func contains(_ text: [UInt8]) -> Bool {
    guard let first = text.first else { return true }
    var rest = bytes
    while let start = rest.firstIndex(of: first), rest.endIndex - start >= text.count {
      if rest[start...].starts(with: text) { return true }
      rest = rest[(start + 1)...]
    }
    return false
  }

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
  }
}
