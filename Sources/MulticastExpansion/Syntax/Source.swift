/// The source of a declaration, and the place that the compiler knows it by.
struct Source {
  let bytes: [UInt8]
  let fileName: String
  /// The offset of the first byte in the file.
  let offset: Int

  init(_ text: String, fileName: String = "", offset: Int = 0) {
    bytes = Array(text.utf8)
    self.fileName = fileName
    self.offset = offset
  }

  /// The text of a range as it stands, with comments.
  func text(_ range: Range<Int>) -> String {
    String(decoding: bytes[range], as: UTF8.self)
  }
}
