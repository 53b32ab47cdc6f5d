extension Parser {
  private static let specifierWords: Set<String> = [
    "inout", "borrowing", "consuming", "sending", "isolated", "_const", "__owned", "__shared",
    "nonisolated", "dependsOn",
  ]

  /// A type with the specifiers before it.
  mutating func parseType() throws(SyntaxError) -> TypeSyntax {
    try nested { (parser: inout Parser) throws(SyntaxError) in
      let start = parser.index
      let specifiers = try parser.parseSpecifiers()
      let structure = try parser.parseStructure()
      let tokens = parser.tokens[start..<parser.index]
      return TypeSyntax(
        structure: structure, text: Parser.text(of: tokens), range: parser.range(from: start),
        specifiers: specifiers, names: tokens.filter { $0.kind == .identifier }.map(\.text))
    }
  }

  private mutating func parseSpecifiers() throws(SyntaxError) -> [String] {
    var specifiers: [String] = []
    while true {
      if at("@") {
        specifiers.append(try parseAttribute().text)
      } else if token.kind == .identifier, Parser.specifierWords.contains(token.text),
        !Parser.endsType(after: peek())
      {
        let start = index
        advance()
        if at("("), token.isAdjacent || tokens[start].text == "nonisolated" { try skipBrackets() }
        specifiers.append(text(from: start))
      } else {
        return specifiers
      }
    }
  }

  /// Whether a type is complete before `token`, so that a word before it is a name.
  private static func endsType(after token: Token) -> Bool {
    switch token.kind {
    case .end: true
    case .punctuation:
      [",", ")", ">", "]", "{", "}", "=", ".", ":", "<", "?", "!", "&"].contains(token.text)
    default: false
    }
  }

  private static let wordsInTypes = specifierWords.union([
    "some", "any", "each", "repeat", "async", "throws", "rethrows", "reasync", "of", "let",
  ])

  /// Whether the name at `index` in the text of a type is a word of the language.
  static func isWord(at index: Int, in tokens: [Token]) -> Bool {
    wordsInTypes.contains(tokens[index].text)
      && !endsType(after: tokens[min(index + 1, tokens.count - 1)])
  }

  private mutating func parseStructure() throws(SyntaxError) -> TypeStructure {
    var structure = try parseComposition()
    if try skipFunctionArrow() { structure = .function }
    return structure
  }

  /// The rest of a function type, after its parameters.
  private mutating func skipFunctionArrow() throws(SyntaxError) -> Bool {
    let start = index
    while at("async") || at("throws") || at("rethrows") || at("reasync") {
      advance()
      if at("("), tokens[index - 1].text == "throws" { try skipBrackets() }
    }
    guard takeOperator("->") else {
      rewind(to: start)
      return false
    }
    _ = try parseType()
    return true
  }

  private mutating func parseComposition() throws(SyntaxError) -> TypeStructure {
    var structure = try parsePrefixed()
    while atOperator("&"), !atOperator("&&") {
      advance()
      _ = try parsePrefixed()
      structure = .other
    }
    return structure
  }

  private mutating func parsePrefixed() throws(SyntaxError) -> TypeStructure {
    if ["some", "any", "each", "repeat"].contains(token.text), !Parser.endsType(after: peek()) {
      advance()
      _ = try nested { (parser: inout Parser) throws(SyntaxError) in
        try parser.parsePrefixed()
      }
      return .other
    }
    if take("~") {
      _ = try nested { (parser: inout Parser) throws(SyntaxError) in
        try parser.parsePrefixed()
      }
      return .other
    }
    return try parsePostfix()
  }

  private mutating func parsePostfix() throws(SyntaxError) -> TypeStructure {
    let start = index
    var structure = try parsePrimary()
    var marks = 0
    while true {
      if (at("?") || at("!")) && token.isAdjacent {
        marks += 1
        guard marks < Parser.deepest else { throw error("fewer '?'") }
        let wrapped = TypeSyntax(
          structure: structure, text: text(from: start), range: range(from: start))
        advance()
        structure = .optional(wrapped)
      } else if at("."), peek().kind == .identifier {
        advance()
        let name = try parseTypeName()
        switch structure {
        case .named(let names) where !["Type", "Protocol"].contains(name.name):
          structure = .named(names + [name])
        default:
          structure = .other
        }
      } else {
        return structure
      }
    }
  }

  private mutating func parsePrimary() throws(SyntaxError) -> TypeStructure {
    if take("(") { return try parseTuple() }
    if take("[") { return try parseCollection() }
    var names = [try parseTypeName()]
    // A module selector.
    while atOperator("::") {
      _ = takeOperator("::")
      names.append(try parseTypeName())
    }
    return .named(names)
  }

  private mutating func parseTuple() throws(SyntaxError) -> TypeStructure {
    var elements: [TypeSyntax] = []
    while !take(")") {
      skipLabel()
      elements.append(try parseType())
      _ = takeOperator("...")
      if !at(")") { try expect(",") }
    }
    // Parentheses around one type.
    if elements.count == 1, !elements[0].isPack { return elements[0].structure }
    return .tuple(elements)
  }

  /// Skips `label:` and `label name:`, but not `Module::`.
  private mutating func skipLabel() {
    guard token.kind == .identifier else { return }
    let words = peek().kind == .identifier ? 2 : 1
    guard peek(words).text == ":", !(peek(words + 1).text == ":" && peek(words + 1).isAdjacent)
    else { return }
    for _ in 0...words { advance() }
  }

  private mutating func parseCollection() throws(SyntaxError) -> TypeStructure {
    // `[3 of T]`
    if token.kind == .integerOrFloat || peek().text == "of" {
      advance()
      try expect("of")
      _ = try parseType()
      try expect("]")
      return .other
    }
    let element = try parseType()
    if take(":") {
      _ = try parseType()
      try expect("]")
      return .dictionary
    }
    try expect("]")
    return .array(element)
  }

  private mutating func parseTypeName() throws(SyntaxError) -> TypeName {
    var name = TypeName(name: try takeIdentifier("a type").text)
    guard atOperator("<") else { return name }
    advance()
    while !take(">") {
      if token.kind == .integerOrFloat || at("-") {
        advance()
        if token.kind == .integerOrFloat { advance() }
      } else {
        name.arguments.append(try parseType())
      }
      if !at(">") { try expect(",") }
    }
    return name
  }
}
