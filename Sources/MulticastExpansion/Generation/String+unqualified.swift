extension String {
  /// Source in which associated types have their names alone, as the parameters of a composite
  /// have: `Item` for `Self.Item`.
  var unqualified: String {
    guard contains("Self") else { return self }
    var result: [UInt8] = []
    let bytes = Array(utf8)
    var copied = 0
    let tokens = Lexer.tokens(of: bytes)
    // Tokens, because a string, or the end of another name, may have this text too.
    for (token, next) in zip(tokens, tokens.dropFirst())
    where token.text == "Self" && next.text == "." {
      result += bytes[copied..<token.range.lowerBound]
      copied = next.range.upperBound
    }
    return String(decoding: result + bytes[copied...], as: UTF8.self)
  }
}
