extension Parser {
  /// The words that begin a declaration of another kind than a protocol.
  private static let otherKinds: [String: String] = [
    "class": "a class", "struct": "a struct", "enum": "an enum", "actor": "an actor",
    "extension": "an extension", "func": "a function", "var": "a property", "let": "a property",
    "typealias": "a type alias", "subscript": "a subscript", "init": "an initializer",
    "associatedtype": "an associated type", "macro": "a macro", "import": "an import",
    "operator": "an operator", "precedencegroup": "a precedence group", "case": "a case",
    "deinit": "a deinitializer",
  ]

  /// The whole declaration.
  static func parse(_ source: Source) throws(SyntaxError) -> ProtocolDeclaration {
    var parser = Parser(source)
    return try parser.parseProtocol()
  }

  private mutating func parseProtocol() throws(SyntaxError) -> ProtocolDeclaration {
    var declaration = ProtocolDeclaration()
    try refuseCondition()
    try parseModifiers(into: &declaration.attributes, &declaration.modifiers)
    if !at("protocol") {
      // `class` is a modifier too.
      let word = declaration.modifiers.last?.name == "class" ? "class" : token.text
      if let kind = Parser.otherKinds[word] {
        throw SyntaxError(
          message: "'@Multicast' belongs to a protocol, not to \(kind)",
          range: declaration.attributes.first { $0.baseName == "Multicast" }?.range ?? token.range)
      }
    }
    try expect("protocol")
    let name = try takeIdentifier("the name of the protocol")
    declaration.name = name.text
    declaration.nameRange = name.range
    if take("<") {
      while !take(">") {
        declaration.primaryAssociatedTypes.append(
          try takeIdentifier("the name of an associated type").text)
        if !at(">") { try expect(",") }
      }
    }
    if take(":") { declaration.inherited = try parseInheritance() }
    declaration.constraints = try parseWhere()
    try expect("{")
    declaration.members = try parseMembers(until: ["}"])
    try expect("}")
    return declaration
  }

  private mutating func parseInheritance() throws(SyntaxError) -> [TypeSyntax] {
    var types: [TypeSyntax] = []
    repeat { types.append(try parseType()) } while take(",")
    return types
  }

  mutating func parseWhere() throws(SyntaxError) -> [Constraint] {
    guard take("where") else { return [] }
    var constraints: [Constraint] = []
    repeat {
      let left = try parseType()
      if takeOperator("==") {
        constraints.append(Constraint(left: left, relation: "==", right: try parseType()))
      } else {
        try expect(":")
        constraints.append(Constraint(left: left, relation: ":", right: try parseType()))
      }
    } while take(",")
    return constraints
  }

  private mutating func parseMembers(until ends: Set<String>) throws(SyntaxError) -> [Member] {
    var members: [Member] = []
    while !isAtEnd {
      if at("}"), ends.contains("}") { return members }
      if at("#"), peek().isAdjacent, ends.contains("#" + peek().text) { return members }
      if take(";") { continue }
      if at("#"), peek().text == "if", peek().isAdjacent {
        let clauses = try nested { (parser: inout Parser) throws(SyntaxError) in
          try parser.parseConditional()
        }
        members.append(.conditional(clauses))
      } else if let requirement = try parseRequirement() {
        members.append(.requirement(requirement))
      }
    }
    return members
  }

  /// `#if` to `#endif`.
  private mutating func parseConditional() throws(SyntaxError) -> [ConditionalClause] {
    var clauses: [ConditionalClause] = []
    while !isAtEnd {
      let start = index
      advance()
      let word = token.text
      advance()
      if word == "endif" { return clauses }
      // A condition goes on in the next line only inside brackets.
      while !isAtEnd, !token.startsLine {
        if at("(") { try skipBrackets() } else { advance() }
      }
      let directive = text(from: start)
      let members = try parseMembers(until: ["#elseif", "#else", "#endif"])
      clauses.append(ConditionalClause(directive: directive, members: members))
    }
    throw error("'#endif'")
  }
}
