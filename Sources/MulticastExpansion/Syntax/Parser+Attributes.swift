extension Parser {
  /// `@A.B<C>(arguments)`. The current token is the `@`.
  mutating func parseAttribute() throws(SyntaxError) -> Attribute {
    let start = index
    try expect("@")
    let nameStart = index
    _ = try takeIdentifier("the name of an attribute")
    while true {
      if at("."), peek().kind == .identifier, token.isAdjacent {
        advance()
        advance()
      } else if atOperator("::") {
        _ = takeOperator("::")
        _ = try takeIdentifier("the name of an attribute")
      } else if atOperator("<"), token.isAdjacent {
        try skipGenericArguments()
      } else {
        break
      }
    }
    let name = text(from: nameStart)
    let argumentsStart = index
    if at("("), token.isAdjacent { try skipBrackets() }
    return Attribute(
      name: name, arguments: Array(tokens[argumentsStart..<index]), text: text(from: start),
      range: range(from: start))
  }

  private mutating func skipGenericArguments() throws(SyntaxError) {
    try expect("<")
    while !take(">") {
      _ = try parseType()
      if !at(">") { try expect(",") }
    }
  }

  mutating func parseAttributes() throws(SyntaxError) -> [Attribute] {
    var attributes: [Attribute] = []
    while at("@") { attributes.append(try parseAttribute()) }
    return attributes
  }

  private static let modifierWords: Set<String> = [
    "public", "internal", "private", "fileprivate", "package", "open", "nonisolated", "mutating",
    "nonmutating", "static", "class", "optional", "required", "convenience", "final", "dynamic",
    "lazy", "weak", "unowned", "override", "prefix", "postfix", "infix", "isolated", "distributed",
    "consuming", "borrowing", "__consuming", "indirect", "_local",
  ]

  /// Attributes and modifiers, in any order.
  mutating func parseModifiers(
    into attributes: inout [Attribute], _ modifiers: inout [Modifier]
  ) throws(SyntaxError) {
    while true {
      if at("@") {
        attributes.append(try parseAttribute())
      } else if token.kind == .identifier, Parser.modifierWords.contains(token.text) {
        let start = index
        let name = token.text
        advance()
        if at("(") { try skipBrackets() }
        modifiers.append(
          Modifier(name: name, text: text(from: start), range: range(from: start)))
      } else {
        if !attributes.isEmpty || !modifiers.isEmpty { try refuseCondition() }
        return
      }
    }
  }

  /// Throws at a condition that contains or follows attributes: without the compiler's settings the
  /// parser cannot tell which of them a declaration has.
  func refuseCondition() throws(SyntaxError) {
    guard at("#"), ["if", "elseif", "else", "endif"].contains(peek().text) else { return }
    throw SyntaxError(
      message: """
        '@Multicast' does not read attributes under a condition: write the whole declaration under it
        """, range: token.range)
  }
}
