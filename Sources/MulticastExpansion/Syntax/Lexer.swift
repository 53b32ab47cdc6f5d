/// Splits source into tokens. It never fails: what is cut off ends with the source.
struct Lexer {
  let bytes: [UInt8]
  private(set) var position = 0
  /// How deep string interpolations nest here; deeper ones are not followed.
  private var interpolations = 0
  private static var deepestInterpolation: Int { 64 }

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// All tokens of `source`, and one of kind `end`.
  static func tokens(of bytes: [UInt8]) -> [Token] {
    var lexer = Lexer(bytes)
    var tokens: [Token] = []
    repeat { tokens.append(lexer.next()) } while tokens.last!.kind != .end
    return tokens
  }

  mutating func next() -> Token {
    let before = position
    let startsLine = skipTrivia() || before == 0
    let start = position
    let kind = scan()
    return Token(
      kind: kind, range: start..<position, text: text(start..<position),
      isAdjacent: start == before, startsLine: startsLine)
  }

  func text(_ range: Range<Int>) -> String {
    String(decoding: bytes[range], as: UTF8.self)
  }

  private func peek(_ offset: Int = 0) -> UInt8? {
    position + offset < bytes.count ? bytes[position + offset] : nil
  }
}

// MARK: - White space and comments

extension Lexer {
  /// Returns whether a line ended.
  private mutating func skipTrivia() -> Bool {
    var endedLine = false
    while let byte = peek() {
      switch byte {
      case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
        endedLine = true
        position += 1
      case UInt8(ascii: " "), UInt8(ascii: "\t"), 0, 0x0B, 0x0C:
        position += 1
      case UInt8(ascii: "/") where peek(1) == UInt8(ascii: "/"):
        while let byte = peek(), byte != UInt8(ascii: "\n"), byte != UInt8(ascii: "\r") {
          position += 1
        }
      case UInt8(ascii: "/") where peek(1) == UInt8(ascii: "*"):
        if skipBlockComment() { endedLine = true }
      default:
        return endedLine
      }
    }
    return endedLine
  }

  /// Returns whether the comment contains the end of a line. Comments nest.
  private mutating func skipBlockComment() -> Bool {
    var endedLine = false
    var depth = 0
    while let byte = peek() {
      if byte == UInt8(ascii: "/"), peek(1) == UInt8(ascii: "*") {
        depth += 1
        position += 2
      } else if byte == UInt8(ascii: "*"), peek(1) == UInt8(ascii: "/") {
        depth -= 1
        position += 2
        if depth == 0 { break }
      } else {
        if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") { endedLine = true }
        position += 1
      }
    }
    position = min(position, bytes.count)
    return endedLine
  }
}

// MARK: - Tokens

extension Lexer {
  private mutating func scan() -> Token.Kind {
    guard let byte = peek() else { return .end }
    switch byte {
    case UInt8(ascii: "`"):
      return scanQuotedIdentifier()
    case UInt8(ascii: "$"):
      position += 1
      while let byte = peek(), Lexer.continuesIdentifier(byte) { position += 1 }
      return .dollarIdentifier
    case UInt8(ascii: "\""):
      scanString(hashes: 0)
      return .string
    case UInt8(ascii: "#"):
      var hashes = 1
      while peek(hashes) == UInt8(ascii: "#") { hashes += 1 }
      if peek(hashes) == UInt8(ascii: "\"") {
        position += hashes
        scanString(hashes: hashes)
        return .string
      }
      position += 1
      return .punctuation
    case UInt8(ascii: "0")...UInt8(ascii: "9"):
      scanNumber()
      return .integerOrFloat
    case _ where Lexer.continuesIdentifier(byte):
      while let byte = peek(), Lexer.continuesIdentifier(byte) { position += 1 }
      return .identifier
    default:
      position += 1
      return .punctuation
    }
  }

  /// Bytes above 127 belong to names; in operators they are accepted as names, which the parser
  /// accepts after `func`.
  private static func continuesIdentifier(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...0xFF:
      true
    default:
      false
    }
  }

  /// `` `class` ``, or a raw identifier such as `` `a name` ``.
  private mutating func scanQuotedIdentifier() -> Token.Kind {
    var end = position + 1
    while end < bytes.count, bytes[end] != UInt8(ascii: "\n"), bytes[end] != UInt8(ascii: "\r") {
      if bytes[end] == UInt8(ascii: "`") {
        position = end + 1
        return .identifier
      }
      end += 1
    }
    position += 1
    return .punctuation
  }

  private mutating func scanNumber() {
    while let byte = peek() {
      let isFraction =
        byte == UInt8(ascii: ".")
        && peek(1).map { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 } == true
      guard Lexer.continuesIdentifier(byte) || isFraction else { return }
      position += 1
    }
  }

  /// A string literal from its first quotation mark on, with the interpolations in it.
  private mutating func scanString(hashes: Int) {
    let quote = UInt8(ascii: "\"")
    let isMultiline = peek(1) == quote && peek(2) == quote
    let quotes = isMultiline ? 3 : 1
    position += quotes
    while let byte = peek() {
      if byte == quote, closes(quotes: quotes, hashes: hashes) {
        position += quotes + hashes
        return
      }
      if byte == UInt8(ascii: "\\"), isEscape(hashes: hashes) {
        position += 1 + hashes
        if peek() == UInt8(ascii: "("), interpolations < Lexer.deepestInterpolation {
          interpolations += 1
          scanInterpolation()
          interpolations -= 1
        } else if position < bytes.count {
          position += 1
        }
        continue
      }
      if !isMultiline, byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") { return }
      position += 1
    }
  }

  private func closes(quotes: Int, hashes: Int) -> Bool {
    (0..<quotes).allSatisfy { peek($0) == UInt8(ascii: "\"") }
      && (0..<hashes).allSatisfy { peek(quotes + $0) == UInt8(ascii: "#") }
  }

  private func isEscape(hashes: Int) -> Bool {
    (0..<hashes).allSatisfy { peek(1 + $0) == UInt8(ascii: "#") }
  }

  private mutating func scanInterpolation() {
    var depth = 0
    while peek() != nil {
      let token = next()
      switch token.text {
      case "(": depth += 1
      case ")": depth -= 1
      default: break
      }
      if depth == 0 || token.kind == .end { return }
    }
  }
}
