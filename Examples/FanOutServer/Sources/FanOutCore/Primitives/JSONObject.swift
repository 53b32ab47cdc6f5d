/// The members of one JSON object (RFC 8259), read strictly.
///
/// It gives values as they are written, because events contain the text of their publisher.
struct JSONObject {
  /// A value of a member.
  enum Value: Hashable {
    case string(String)
    /// A number, an object, an array, `true`, `false` or `null`: its text.
    case other(String)
  }

  /// Why a text is not such an object.
  enum Fault: Error, Hashable {
    /// The text is not JSON from this byte on; the first is 0.
    case syntax(Int)
    case notAnObject
    /// There are more arrays and objects inside of each other than the limit.
    case depth
    case repeatedMember
  }

  static let depthLimit = 64

  private(set) var members: [String: Value] = [:]

  /// - Parameter text: UTF-8.
  init(_ text: some Collection<UInt8>) throws(Fault) {
    var parser = Parser(Array(text))
    parser.skipSpace()
    guard parser.next == UInt8(ascii: "{") else {
      try parser.skipDocument()
      throw .notAnObject
    }
    var members: [String: Value] = [:]
    var isRepeated = false
    try parser.readMembers { (name, value) in
      isRepeated = members.updateValue(value, forKey: name) != nil || isRepeated
    }
    try parser.expectEnd()
    guard !isRepeated else { throw .repeatedMember }
    self.members = members
  }

  /// Whether `text` is JSON of any kind.
  static func isJSON(_ text: some Collection<UInt8>) -> Bool {
    var parser = Parser(Array(text))
    parser.skipSpace()
    return (try? parser.skipDocument()) != nil
  }
}

extension JSONObject.Fault: CustomStringConvertible {
  var description: String {
    switch self {
    case .syntax(let offset): "it is not JSON from byte \(offset) on"
    case .notAnObject: "it is not a JSON object"
    case .depth:
      "it has more than \(JSONObject.depthLimit) arrays and objects inside of each other"
    case .repeatedMember: "a member of the object is there twice"
    }
  }
}

extension JSONObject {
  /// A place in a text.
  fileprivate struct Parser {
    private let bytes: [UInt8]
    private var index = 0
    private var depth = 0

    init(_ bytes: [UInt8]) {
      self.bytes = bytes
    }
  }
}

extension JSONObject.Parser {
  /// `nil` at the end.
  var next: UInt8? { index < bytes.count ? bytes[index] : nil }

  private var fault: JSONObject.Fault { .syntax(index) }

  mutating func skipSpace() {
    while let next, next == 0x20 || (0x09...0x0a).contains(next) || next == 0x0d { index += 1 }
  }

  /// Skips a value with nothing after it.
  mutating func skipDocument() throws(JSONObject.Fault) {
    try skipValue()
    try expectEnd()
  }

  mutating func expectEnd() throws(JSONObject.Fault) {
    skipSpace()
    guard next == nil else { throw fault }
  }

  private mutating func expect(_ byte: UInt8) throws(JSONObject.Fault) {
    guard next == byte else { throw fault }
    index += 1
  }

  /// Skips an opening bracket, as far as the depth allows.
  private mutating func open(_ bracket: UInt8) throws(JSONObject.Fault) {
    try expect(bracket)
    depth += 1
    guard depth <= JSONObject.depthLimit else { throw .depth }
  }

  /// - Returns: whether there was a closing bracket; otherwise a comma was skipped.
  private mutating func closes(_ bracket: UInt8) throws(JSONObject.Fault) -> Bool {
    skipSpace()
    guard next == bracket else {
      try expect(UInt8(ascii: ","))
      skipSpace()
      return false
    }
    index += 1
    depth -= 1
    return true
  }

  /// Reads an object.
  mutating func readMembers(
    _ body: (String, JSONObject.Value) -> Void
  ) throws(JSONObject.Fault) {
    try open(UInt8(ascii: "{"))
    skipSpace()
    if next == UInt8(ascii: "}") {
      index += 1
      depth -= 1
      return
    }
    repeat {
      let name = try readString()
      skipSpace()
      try expect(UInt8(ascii: ":"))
      skipSpace()
      body(name, try readValue())
    } while try !closes(UInt8(ascii: "}"))
  }

  private mutating func readValue() throws(JSONObject.Fault) -> JSONObject.Value {
    if next == UInt8(ascii: "\"") { return .string(try readString()) }
    let start = index
    try skipValue()
    guard let text = String(validating: bytes[start..<index], as: UTF8.self) else {
      throw .syntax(start)
    }
    return .other(text)
  }

  private mutating func skipValue() throws(JSONObject.Fault) {
    switch next {
    case UInt8(ascii: "\""): _ = try readString()
    case UInt8(ascii: "{"): try readMembers { _, _ in }
    case UInt8(ascii: "["): try skipArray()
    case UInt8(ascii: "t"): try skip("true")
    case UInt8(ascii: "f"): try skip("false")
    case UInt8(ascii: "n"): try skip("null")
    default: try skipNumber()
    }
  }

  private mutating func skipArray() throws(JSONObject.Fault) {
    try open(UInt8(ascii: "["))
    skipSpace()
    if next == UInt8(ascii: "]") {
      index += 1
      depth -= 1
      return
    }
    repeat { try skipValue() } while try !closes(UInt8(ascii: "]"))
  }

  private mutating func skip(_ word: String) throws(JSONObject.Fault) {
    for byte in word.utf8 { try expect(byte) }
  }

  private mutating func skipNumber() throws(JSONObject.Fault) {
    if next == UInt8(ascii: "-") { index += 1 }
    if next == UInt8(ascii: "0") { index += 1 } else { try skipDigits() }
    if next == UInt8(ascii: ".") {
      index += 1
      try skipDigits()
    }
    guard next == UInt8(ascii: "e") || next == UInt8(ascii: "E") else { return }
    index += 1
    if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { index += 1 }
    try skipDigits()
  }

  private mutating func skipDigits() throws(JSONObject.Fault) {
    let start = index
    while let next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(next) { index += 1 }
    guard index > start else { throw fault }
  }
}

// MARK: - Strings

extension JSONObject.Parser {
  private mutating func readString() throws(JSONObject.Fault) -> String {
    let start = index
    try expect(UInt8(ascii: "\""))
    var text: [UInt8] = []
    while let byte = next, byte != UInt8(ascii: "\"") {
      guard byte >= 0x20 else { throw fault }
      index += 1
      if byte == UInt8(ascii: "\\") {
        text += Array(String(try readEscape()).utf8)
      } else {
        text.append(byte)
      }
    }
    try expect(UInt8(ascii: "\""))
    guard let string = String(validating: text, as: UTF8.self) else { throw .syntax(start) }
    return string
  }

  /// Reads the rest of an escape sequence.
  private mutating func readEscape() throws(JSONObject.Fault) -> Unicode.Scalar {
    guard let byte = next else { throw fault }
    index += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{c}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): break
    default:
      index -= 1
      throw fault
    }
    let start = index
    let first = try readUnit()
    if let scalar = Unicode.Scalar(first) { return scalar }
    // Half of a pair.
    try skip("\\u")
    let second = try readUnit()
    guard UTF16.isLeadSurrogate(first), UTF16.isTrailSurrogate(second) else {
      throw .syntax(start)
    }
    return UTF16.decode(UTF16.EncodedScalar([first, second]))
  }

  private mutating func readUnit() throws(JSONObject.Fault) -> UInt16 {
    guard let text = String(validating: bytes[index...].prefix(4), as: UTF8.self),
      text.utf8.count == 4, text.allSatisfy(\.isHexDigit), let unit = UInt16(text, radix: 16)
    else { throw fault }
    index += 4
    return unit
  }
}
