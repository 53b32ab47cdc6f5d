internal import NIOCore

/// Writes the JSON of responses.
package enum JSON {
  /// - Parameter members: names that need no escaping, and values that are JSON.
  package static func object(_ members: [(String, String)]) -> String {
    "{" + members.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + "}"
  }

  package static func array(_ elements: [String]) -> String {
    "[" + elements.joined(separator: ",") + "]"
  }

  package static func string(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\u{0}"..<" ":
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  /// What a text is that should be an object.
  package enum Kind {
    case object
    /// An object with two members of the same name.
    case objectWithRepeatedMember
    case other
  }

  /// - Parameter text: UTF-8.
  package static func kind(of text: some Collection<UInt8>) -> Kind {
    do {
      _ = try JSONObject(text)
      return .object
    } catch {
      return error == .repeatedMember ? .objectWithRepeatedMember : .other
    }
  }

  /// Writes UTF-8 text as a part of a string, without its quotes.
  static func write(
    partOfString bytes: Slice<UnsafeRawBufferPointer>, to buffer: inout ByteBuffer
  ) {
    var rest = bytes
    while let special = rest.firstIndex(where: { $0 < 0x20 || $0 == 0x22 || $0 == 0x5c }) {
      buffer.writeBytes(rest[..<special])
      switch rest[special] {
      case UInt8(ascii: "\""): buffer.writeStaticString("\\\"")
      case UInt8(ascii: "\\"): buffer.writeStaticString("\\\\")
      case UInt8(ascii: "\t"): buffer.writeStaticString("\\t")
      case let byte:
        buffer.writeString(byte < 16 ? "\\u000" : "\\u00")
        buffer.writeString(String(byte, radix: 16))
      }
      rest = rest[(special + 1)...]
    }
    buffer.writeBytes(rest)
  }
}
