/// A parser of protocol declarations: no bodies, no expressions.
///
/// Its input has usually passed the compiler's parser. It accepts more than that does; what it
/// cannot understand it reports as a ``SyntaxError``, and it ends for every input.
struct Parser {
  let source: Source
  let tokens: [Token]
  private(set) var index = 0
  /// How deep types and conditions nest here.
  var depth = 0
  static var deepest: Int { 100 }

  init(_ source: Source) {
    self.source = source
    tokens = Lexer.tokens(of: source.bytes)
  }

  /// The current token, or the end.
  var token: Token { tokens[index] }

  func peek(_ offset: Int = 1) -> Token { tokens[min(index + offset, tokens.count - 1)] }

  mutating func advance() {
    if index < tokens.count - 1 { index += 1 }
  }

  /// Goes back to a token that was current before.
  mutating func rewind(to index: Int) {
    self.index = index
  }

  var isAtEnd: Bool { token.kind == .end }

  func at(_ text: String) -> Bool { token.text == text && token.kind != .string }

  /// Whether the current tokens are the characters of `text`, adjacent.
  func atOperator(_ text: String) -> Bool {
    for (offset, character) in text.enumerated() {
      let token = peek(offset)
      guard token.kind == .punctuation, token.text == String(character),
        offset == 0 || token.isAdjacent
      else { return false }
    }
    return true
  }

  mutating func take(_ text: String) -> Bool {
    guard at(text) else { return false }
    advance()
    return true
  }

  mutating func takeOperator(_ text: String) -> Bool {
    guard atOperator(text) else { return false }
    for _ in text { advance() }
    return true
  }

  mutating func expect(_ text: String) throws(SyntaxError) {
    guard take(text) else { throw error("'\(text)'") }
  }

  mutating func takeIdentifier(_ what: String) throws(SyntaxError) -> Token {
    guard token.kind == .identifier else { throw error(what) }
    defer { advance() }
    return token
  }

  /// An error at the current token.
  func error(_ expected: String) -> SyntaxError {
    let found = isAtEnd ? "the end of the declaration" : "'\(token.text)'"
    return SyntaxError(
      message: "'@Multicast' expected \(expected) here, and found \(found)", range: token.range)
  }

  /// The range of the tokens since the one at `start`.
  func range(from start: Int) -> Range<Int> {
    guard start < index else { return tokens[start].range }
    return tokens[start].range.lowerBound..<tokens[index - 1].range.upperBound
  }

  /// The text of the tokens since the one at `start`, without comments, on one line.
  func text(from start: Int) -> String {
    Parser.text(of: tokens[start..<max(start, index)])
  }

  /// The text of tokens, with one space where they are apart. A line that ends stays one in front
  /// of what would otherwise be something else.
  static func text(of tokens: some Collection<Token>) -> String {
    var text = ""
    for token in tokens where token.kind != .end {
      if !text.isEmpty, !token.isAdjacent { text += " " }
      text += token.text
    }
    return text
  }

  /// Skips a pair of brackets and everything between. The current token opens it.
  mutating func skipBrackets() throws(SyntaxError) {
    var closing: [String] = []
    repeat {
      switch token.kind == .punctuation ? token.text : "" {
      case "(": closing.append(")")
      case "[": closing.append("]")
      case "{": closing.append("}")
      case ")", "]", "}":
        guard token.text == closing.last else { throw error("'\(closing.last ?? "")'") }
        closing.removeLast()
      default:
        if isAtEnd { throw error("'\(closing.last ?? "")'") }
      }
      advance()
    } while !closing.isEmpty
  }

  /// Runs `body` one level deeper, unless that is too deep.
  mutating func nested<T>(
    _ body: (inout Parser) throws(SyntaxError) -> T
  ) throws(SyntaxError) -> T {
    guard depth < Parser.deepest else {
      throw SyntaxError(
        message: "'@Multicast' found too many nested types here", range: token.range)
    }
    depth += 1
    defer { depth -= 1 }
    return try body(&self)
  }
}
