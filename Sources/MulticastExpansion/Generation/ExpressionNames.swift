/// The names that an expression of `@Answer` uses.
///
/// The expression is copied into the composite, where a name could mean something else than in the attribute: a
/// parameter of the requirement, or a member of the composite.
struct ExpressionNames {
  /// The tokens that are names, without members, labels and what the expression itself declares.
  private(set) var tokens: [Token] = []

  /// Adds the names of an expression.
  mutating func add(_ expression: ArraySlice<Token>) {
    let declared = ExpressionNames.declared(in: expression)
    for index in expression.indices where expression[index].kind == .identifier {
      let token = expression[index]
      let previous = index > expression.startIndex ? expression[index - 1].text : ""
      let next = index + 1 < expression.endIndex ? expression[index + 1].text : ""
      let isMember = previous == "."
      let isLabel = next == ":" && ["(", ","].contains(previous)
      if !isMember, !isLabel, !declared.contains(token.name) { tokens.append(token) }
    }
  }

  /// The parameters of closures, and their variables.
  private static func declared(in expression: ArraySlice<Token>) -> Set<String> {
    var names: Set<String> = []
    for index in expression.indices {
      let rest = expression[(index + 1)...]
      switch expression[index].text {
      case "{":
        // Without an `in` before the first statement the closure has no named parameters.
        guard let end = rest.firstIndex(where: { ["in", "{", "}"].contains($0.text) }),
          rest[end].text == "in"
        else { continue }
        names.formUnion(rest[..<end].map(\.name))
      case "let", "var", "func":
        if let name = rest.first?.name { names.insert(name) }
      default: continue
      }
    }
    return names
  }

  /// Throws the name that would mean something else in the composite.
  ///
  /// - Parameters:
  ///   - parameters: the names of the parameters of the requirement.
  ///   - members: those of the members of the composite.
  func check(parameters: [String], members: Set<String>) throws(Finding) {
    for token in tokens {
      let kind: String
      if parameters.contains(where: { $0.filter { $0 != "`" } == token.name }) {
        kind = "the parameter"
      } else if members.contains(token.name) {
        kind = "the member of the composite"
      } else {
        continue
      }
      throw Finding(
        message: """
          in the composite, '\(token.name)' is \(kind): write the type or the module before it, or \
          rename it
          """, range: token.range)
    }
  }
}

extension Token {
  /// The text without backticks.
  fileprivate var name: String { text.filter { $0 != "`" } }
}
