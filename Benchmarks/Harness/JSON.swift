/// A JSON value that can be written.
enum JSON {
  case null
  case bool(Bool)
  case int(Int)
  /// Written with six significant digits.
  case number(Double)
  case string(String)
  case array([JSON])
  /// In the order given.
  case object([(String, JSON)])
}

extension JSON {
  /// The text of the value. What holds nothing but plain values and arrays of them is on one line.
  func text(indentation: String = "") -> String {
    let inner = indentation + "  "
    switch self {
    case .null: return "null"
    case .bool(let value): return "\(value)"
    case .int(let value): return "\(value)"
    case .number(let value): return value.isFinite ? value.significant(6) : "null"
    case .string(let value): return Self.quoted(value)
    case .array(let elements):
      if isPlainArray {
        return "[" + elements.map { $0.text() }.joined(separator: ", ") + "]"
      }
      return Self.block(elements.map { inner + $0.text(indentation: inner) }, "[", "]", indentation)
    case .object(let members):
      if members.allSatisfy({ $0.1.isPlain || $0.1.isPlainArray }) {
        let texts = members.map { "\(Self.quoted($0.0)): \($0.1.text())" }
        return "{" + texts.joined(separator: ", ") + "}"
      }
      let lines = members.map { "\(inner)\(Self.quoted($0.0)): \($0.1.text(indentation: inner))" }
      return Self.block(lines, "{", "}", indentation)
    }
  }

  private var isPlain: Bool {
    switch self {
    case .array, .object: false
    default: true
    }
  }

  private var isPlainArray: Bool {
    guard case .array(let elements) = self else { return false }
    return elements.allSatisfy(\.isPlain)
  }

  private static func block(
    _ lines: [String], _ open: String, _ close: String, _ indentation: String
  ) -> String {
    lines.isEmpty
      ? open + close : "\(open)\n\(lines.joined(separator: ",\n"))\n\(indentation)\(close)"
  }

  private static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case _ where scalar.value < 0x20:
        let digits = String(scalar.value, radix: 16)
        quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}
