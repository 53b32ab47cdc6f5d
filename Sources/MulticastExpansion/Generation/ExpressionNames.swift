/// The names that an expression of `@Answer` uses.
///
/// The expression is copied into the composite, where a name could mean something else than in the
/// attribute: a parameter of the requirement, or a member of the composite.
struct ExpressionNames {
  /// The tokens that are names, without members, labels and what the expression itself declares.
  private(set) var tokens: [Token] = []

  /// Adds the names of an expression.
  mutating func add(_ expression: ArraySlice<Token>) {
    let declared = ExpressionNames.declared(in: expression)
    /// For each bracket around the token: whether a name before a colon is a label there.
    var hasLabels: [Bool] = []
    for index in expression.indices {
      let token = expression[index]
      switch token.text {
      case "(", "{": hasLabels.append(true)
      // A dictionary has values before its colons.
      case "[": hasLabels.append(ExpressionNames.isSubscript(at: index, in: expression))
      case ")", "}", "]": _ = hasLabels.popLast()
      default: break
      }
      guard token.kind == .identifier, !declared.contains(token.name) else { continue }
      let previous = index > expression.startIndex ? expression[index - 1].text : ""
      let next = index + 1 < expression.endIndex ? expression[index + 1].text : ""
      // `0...count` has a dot before a name that is no member.
      let isMember =
        previous == "."
        && (index - 2 < expression.startIndex || expression[index - 2].text != ".")
      // After a colon: in the name of a function, `move(from:to:)`. After a brace: of a trailing
      // closure.
      let isLabel =
        next == ":" && ["(", "[", ",", ":", "}"].contains(previous) && hasLabels.last ?? true
      if !isMember, !isLabel { tokens.append(token) }
    }
  }

  /// Whether the bracket at `index` begins the arguments of a subscript.
  private static func isSubscript(at index: Int, in expression: ArraySlice<Token>) -> Bool {
    guard index > expression.startIndex, expression[index].isAdjacent else { return false }
    let previous = expression[index - 1]
    return previous.kind == .identifier || [")", "]", "}", "!", "?"].contains(previous.text)
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
      case "let", "var": names.formUnion(pattern(at: rest).map(\.name))
      case "for": names.formUnion(rest.prefix { $0.text != "in" }.map(\.name))
      case "func":
        if let name = rest.first?.name { names.insert(name) }
      default: continue
      }
    }
    return names
  }

  /// The pattern with which `tokens` begin: `(low, high)` of `(low, high) = range`.
  private static func pattern(at tokens: ArraySlice<Token>) -> ArraySlice<Token> {
    var depth = 0
    return tokens.prefix { token in
      if token.text == "(" { depth += 1 }
      if token.text == ")" { depth -= 1 }
      return depth >= 0 && !["=", ":", "in", "where", "{"].contains(token.text)
        && (depth > 0 || token.text != ",")
    }
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
