extension Parser {
  /// A member that is not under a condition; `nil` for what has no meaning for a composite.
  mutating func parseRequirement() throws(SyntaxError) -> Requirement? {
    let start = index
    var requirement = Requirement(kind: .other)
    requirement.documentation = documentation(before: start)
    try parseModifiers(into: &requirement.attributes, &requirement.modifiers)
    switch token.text {
    case "func":
      requirement.kind = .function
      try parseFunction(&requirement)
    case "init":
      requirement.kind = .initializer
      requirement.name = "init"
      requirement.nameRange = token.range
      advance()
      if at("?") || at("!") { advance() }
      try parseSignature(&requirement)
    case "var", "let":
      requirement.kind = .variable
      try parseVariable(&requirement)
    case "subscript":
      requirement.kind = .subscripting
      requirement.name = "subscript"
      requirement.nameRange = token.range
      advance()
      try parseGenericParameters(&requirement)
      requirement.parameters = try parseParameters()
      if takeOperator("->") { requirement.result = try parseType() }
      requirement.constraints = try parseWhere()
      try parseAccessors(&requirement)
    case "associatedtype", "typealias":
      requirement.kind = at("typealias") ? .typeAlias : .associatedType
      advance()
      try parseAssociatedType(&requirement)
    case "#":
      try skipDirective()
      return nil
    default:
      throw error("a requirement")
    }
    requirement.range = range(from: start)
    return requirement
  }

  private mutating func parseFunction(_ requirement: inout Requirement) throws(SyntaxError) {
    advance()
    let start = index
    if token.kind == .identifier, token.range.isEmpty == false, !isOperatorName(token.text) {
      advance()
    } else {
      // An operator: its characters, up to the parameters. `<` may also open generic parameters,
      // but only after a first character.
      guard !at("("), !isAtEnd else { throw error("the name of a function") }
      repeat {
        advance()
      } while !isAtEnd && token.isAdjacent && !at("(") && !opensGenericParameters()
    }
    requirement.name = Parser.text(of: tokens[start..<index])
    requirement.nameRange = range(from: start)
    try parseGenericParameters(&requirement)
    try parseSignature(&requirement)
  }

  /// Whether a name consists of characters outside ASCII that begin no identifier.
  private func isOperatorName(_ text: String) -> Bool {
    guard let first = text.unicodeScalars.first, first.value > 127 else { return false }
    return !first.properties.isXIDStart
  }

  /// Whether the `<` here, after an operator, opens generic parameters.
  private func opensGenericParameters() -> Bool {
    at("<") && peek().kind == .identifier
  }

  /// The parameters, the effects, the result and the constraints.
  private mutating func parseSignature(_ requirement: inout Requirement) throws(SyntaxError) {
    if requirement.kind == .initializer { try parseGenericParameters(&requirement) }
    requirement.parameters = try parseParameters()
    (requirement.isAsync, requirement.errors) = try parseEffects()
    if takeOperator("->") { requirement.result = try parseType() }
    requirement.constraints = try parseWhere()
    requirement.noncopyableNames += requirement.constraints
      .filter { $0.right.isNoncopyable }.map(\.left.text)
  }

  private mutating func parseEffects() throws(SyntaxError) -> (Bool, Requirement.Errors) {
    var isAsync = false
    var errors = Requirement.Errors.none
    while true {
      if take("async") || take("reasync") {
        isAsync = true
      } else if take("rethrows") {
        errors = .rethrown
      } else if take("throws") {
        errors = .any
        if take("(") {
          errors = Parser.errors(try parseType())
          try expect(")")
        }
      } else {
        return (isAsync, errors)
      }
    }
  }

  /// `throws(Never)` is no effect, and `throws(any Error)` the one without a type.
  private static func errors(_ type: TypeSyntax) -> Requirement.Errors {
    if type.isNever { return .none }
    return type.text == "any Error" || type.text == "any Swift.Error" ? .any : .typed(type.text)
  }

  private mutating func parseGenericParameters(
    _ requirement: inout Requirement
  ) throws(SyntaxError) {
    guard at("<") else { return }
    let start = index
    advance()
    while !take(">") {
      _ = try parseAttributes()
      if at("each") || at("let") { advance() }
      let name = try takeIdentifier("a generic parameter").text
      requirement.genericNames.append(name)
      if take(":"), try parseType().isNoncopyable { requirement.noncopyableNames.append(name) }
      if !at(">") { try expect(",") }
    }
    requirement.genericParameters = text(from: start)
  }

  private mutating func parseParameters() throws(SyntaxError) -> [Parameter] {
    try expect("(")
    var parameters: [Parameter] = []
    while !take(")") {
      let start = index
      let attributes = try parseAttributes()
      let label = try takeIdentifier("the label of a parameter")
      let name = token.kind == .identifier ? token.text : nil
      if name != nil { advance() }
      try expect(":")
      let type = try parseType()
      let isVariadic = takeOperator("...")
      // A protocol has no default arguments; the compiler reports them.
      if take("=") { try skipExpression() }
      parameters.append(
        Parameter(
          attributes: attributes, label: label.text, name: name, type: type, isVariadic: isVariadic,
          range: range(from: start)))
      if !at(")") { try expect(",") }
    }
    return parameters
  }

  /// Skips to the comma or bracket that ends an argument.
  private mutating func skipExpression() throws(SyntaxError) {
    while !isAtEnd, !at(","), !at(")") {
      if at("(") || at("[") || at("{") { try skipBrackets() } else { advance() }
    }
  }

  private mutating func parseVariable(_ requirement: inout Requirement) throws(SyntaxError) {
    advance()
    let name = try takeIdentifier("the name of a property")
    requirement.name = name.text
    requirement.nameRange = name.range
    try expect(":")
    requirement.result = try parseType()
    try parseAccessors(&requirement)
  }

  private mutating func parseAccessors(_ requirement: inout Requirement) throws(SyntaxError) {
    guard take("{") else { return }
    while !take("}") {
      let start = index
      var attributes: [Attribute] = []
      var modifiers: [Modifier] = []
      try parseModifiers(into: &attributes, &modifiers)
      let kind = try takeIdentifier("an accessor").text
      var accessor = Accessor(
        kind: kind, modifiers: modifiers.map(\.name), range: range(from: start))
      (accessor.isAsync, accessor.errors) = try parseEffects()
      accessor.range = range(from: start)
      requirement.accessors.append(accessor)
      _ = take(";")
    }
  }

  private mutating func parseAssociatedType(_ requirement: inout Requirement) throws(SyntaxError) {
    let name = try takeIdentifier("the name of an associated type")
    requirement.name = name.text
    requirement.nameRange = name.range
    try parseGenericParameters(&requirement)
    if take(":") {
      repeat {
        let type = try parseType()
        requirement.constraints.append(
          Constraint(
            left: TypeSyntax(structure: .other, text: name.text, range: name.range), relation: ":",
            right: type))
      } while take(",")
    }
    if take("=") { requirement.result = try parseType() }
    requirement.constraints += try parseWhere()
  }

  /// A macro, `#warning(…)` and the like: to the end of the line, or of its arguments.
  private mutating func skipDirective() throws(SyntaxError) {
    advance()
    advance()
    while !isAtEnd, !token.startsLine, !at("}"), !at(";") {
      if at("(") || at("{") || at("[") { try skipBrackets() } else { advance() }
    }
  }

  /// The lines of the doc comment that ends before the token at `index`.
  private func documentation(before index: Int) -> [String] {
    let start = index > 0 ? tokens[index - 1].range.upperBound : 0
    let trivia = source.text(start..<tokens[index].range.lowerBound)
    var lines: [String] = []
    for line in trivia.split(separator: "\n", omittingEmptySubsequences: false) {
      let line = line.drop { $0 == " " || $0 == "\t" }
      if line.hasPrefix("///") {
        lines.append(String(line.hasSuffix("\r") ? line.dropLast() : line))
      } else if !line.isEmpty {
        lines = []
      }
    }
    return lines
  }
}
