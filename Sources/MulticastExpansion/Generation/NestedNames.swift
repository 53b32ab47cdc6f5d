/// The names with which expanded code finds the types of a requirement.
///
/// The extension is at file scope, where the compiler does not find what is declared beside a
/// nested protocol. The composite is beside the protocol. So it has an alias for each type that a
/// requirement names, and the extension names the aliases. For a type that is called `Delegate`
/// there is a ``DelegateAlias``, which the composite names too.
struct NestedNames {
  /// The composite, with the types around it: `Outer.MulticastP<Item>`.
  private let composite: String
  /// The types around the composite: `Outer.`, or nothing.
  private let scope: String
  private let delegateAlias: String
  /// Whether every name needs an alias, and not `Delegate` alone.
  private let isNested: Bool
  /// Distinguishes the aliases of requirements, which may be under different conditions.
  private let number: Int
  /// The names that mean the same everywhere: generic parameters and associated types.
  private let known: Set<String>

  init(_ requirement: Requirement, in context: GenerationContext) {
    let declarations = context.declaration.requirements
    let types = declarations.filter { [.associatedType, .typeAlias].contains($0.kind) }
    let names =
      requirement.genericNames + types.map(\.name) + context.declaration.primaryAssociatedTypes
    known = Set(names.map { $0.filter { $0 != "`" } })
      .union(["Self", "Any", "AnyObject", "Sendable", "Copyable", "Escapable"])
    number = declarations.firstIndex { $0.range == requirement.range } ?? 0
    isNested = !context.enclosingTypes.isEmpty
    scope = context.extendedType.split(separator: ".").dropLast().map { $0 + "." }.joined()
    composite = scope + context.compositeName + context.primaryArguments
    delegateAlias = DelegateAlias.name(for: context)
  }

  /// The aliases of the composite: `typealias _Type0_1 = B` for the second type that the first
  /// requirement names.
  func aliases(of requirement: Requirement) -> [String] {
    paths(in: requirement).enumerated().map { "typealias \(alias($0.offset)) = \($0.element)" }
  }

  /// The requirement as the site declares it.
  func renamed(_ requirement: Requirement, at site: RequirementWriter.Site) -> Requirement {
    let paths = paths(in: requirement)
    return rewritten(requirement) { path in
      if let index = paths.firstIndex(of: path) {
        return site == .composite ? path : "\(composite).\(alias(index))"
      }
      return delegate(at: site) + path.drop { $0 != "." }
    }
  }

  /// Whether a requirement names a type `Delegate`.
  func namesDelegate(in requirement: Requirement) -> Bool {
    var isNamed = false
    _ = rewritten(requirement) { path in
      isNamed = isNamed || DelegateAlias.isHidden(path)
      return path
    }
    return isNamed
  }

  private func delegate(at site: RequirementWriter.Site) -> String {
    site == .composite ? delegateAlias : scope + delegateAlias
  }

  /// The types that a requirement names, each once, without those that are called `Delegate`.
  private func paths(in requirement: Requirement) -> [String] {
    var paths: [String] = []
    _ = rewritten(requirement) { path in
      if !paths.contains(path), !DelegateAlias.isHidden(path) { paths.append(path) }
      return path
    }
    return paths
  }

  private func alias(_ index: Int) -> String { "_Type\(number)_\(index)" }
}

// MARK: - Expressions of @Answer

extension NestedNames {
  /// The members of the composite that have the expressions of a plan, which name what is beside
  /// the protocol too.
  func members(of plan: AnswerPlan, _ requirement: Requirement) -> [String] {
    guard let result = resultOfExpressions(requirement) else { return [] }
    let head = requirement.modifier("nonisolated") == nil ? "static" : "nonisolated static"
    if case .reduce(let initial, let combine) = plan.combination {
      return [
        "\(head) var _initial\(number): \(result) { \(initial) }",
        "\(head) func _combine\(number)(_ left: \(result), _ right: \(result)) -> \(result) "
          + "{ (\(combine))(left, right) }",
      ]
    }
    return plan.absent.map { ["\(head) var _absent\(number): \(result) { \($0) }"] } ?? []
  }

  /// The plan with expressions that mean the same at the site: in the extension of a nested
  /// protocol, the members of the composite.
  func renamed(
    _ plan: AnswerPlan, _ requirement: Requirement, at site: RequirementWriter.Site
  ) -> AnswerPlan {
    var plan = plan
    guard site == .refinement, resultOfExpressions(requirement) != nil else {
      if case .reduce(let initial, let combine) = plan.combination {
        plan.combination = .reduce(
          initial: renamed(initial, at: site), combine: renamed(combine, at: site))
      }
      plan.absent = plan.absent.map { renamed($0, at: site) }
      return plan
    }
    if case .reduce = plan.combination {
      plan.combination = .reduce(
        initial: "\(composite)._initial\(number)", combine: "\(composite)._combine\(number)")
    }
    if plan.absent != nil { plan.absent = "\(composite)._absent\(number)" }
    return plan
  }

  /// The expression with the alias in place of `Delegate`.
  private func renamed(_ expression: String, at site: RequirementWriter.Site) -> String {
    let bytes = Array(expression.utf8)
    var names = ExpressionNames()
    names.add(Lexer.tokens(of: bytes)[...])
    var result: [UInt8] = []
    var copied = 0
    for token in names.tokens where DelegateAlias.isHidden(token.text) {
      guard !known.contains("Delegate") else { break }
      result += bytes[copied..<token.range.lowerBound] + Array(delegate(at: site).utf8)
      copied = token.range.upperBound
    }
    return String(decoding: result + bytes[copied...], as: UTF8.self)
  }

  /// `nil` if the expressions mean the same in the extension, or if their type depends on the call.
  private func resultOfExpressions(_ requirement: Requirement) -> String? {
    guard isNested, let result = requirement.result,
      Set(requirement.genericNames).isDisjoint(with: result.names)
    else { return nil }
    return result.textOfVariable
  }
}

// MARK: - Types

extension NestedNames {
  private func rewritten(
    _ requirement: Requirement, _ name: (String) -> String
  ) -> Requirement {
    var requirement = requirement
    for index in requirement.parameters.indices {
      rewrite(&requirement.parameters[index].type.text, name)
    }
    if requirement.result != nil { rewrite(&requirement.result!.text, name) }
    rewrite(&requirement.genericParameters, name)
    for index in requirement.constraints.indices {
      rewrite(&requirement.constraints[index].left.text, name)
      rewrite(&requirement.constraints[index].right.text, name)
    }
    rewrite(&requirement.errors, name)
    for index in requirement.accessors.indices {
      rewrite(&requirement.accessors[index].errors, name)
    }
    return requirement
  }

  private func rewrite(_ errors: inout Requirement.Errors, _ name: (String) -> String) {
    guard case .typed(var type) = errors else { return }
    rewrite(&type, name)
    errors = .typed(type)
  }

  /// Replaces the names of types in the text of a type.
  private func rewrite(_ text: inout String, _ name: (String) -> String) {
    let bytes = Array(text.utf8)
    let tokens = Lexer.tokens(of: bytes)
    var result: [UInt8] = []
    var copied = 0
    var brackets: [String] = []
    var index = 0
    while index < tokens.count {
      let token = tokens[index]
      if token.text == "(", isArgumentList(at: index, in: tokens) {
        index = endOfBrackets(at: index, in: tokens)
        continue
      }
      if ["(", "["].contains(token.text) { brackets.append(token.text) }
      if [")", "]"].contains(token.text) { _ = brackets.popLast() }
      let end = endOfPath(at: index, in: tokens)
      defer { index = max(end, index + 1) }
      guard end > index, isType(at: index, in: tokens, isInParentheses: brackets.last == "("),
        isNested || DelegateAlias.isHidden(token.text)
      else { continue }
      let path = tokens[index..<end].map(\.text).joined()
      result += bytes[copied..<token.range.lowerBound] + Array(name(path).utf8)
      copied = tokens[end - 1].range.upperBound
    }
    text = String(decoding: result + bytes[copied...], as: UTF8.self)
  }

  /// The index after `A.B` at `index`; `index` itself if there is no name.
  private func endOfPath(at index: Int, in tokens: [Token]) -> Int {
    guard tokens[index].kind == .identifier else { return index }
    var end = index + 1
    while end + 1 < tokens.count, tokens[end].text == ".", tokens[end + 1].kind == .identifier,
      !["Type", "Protocol"].contains(tokens[end + 1].text)
    {
      end += 2
    }
    return end
  }

  /// Whether the parenthesis at `index` belongs to `@convention(c)` or `nonisolated(nonsending)`.
  private func isArgumentList(at index: Int, in tokens: [Token]) -> Bool {
    guard index > 0 else { return false }
    let isAttribute = index > 1 && tokens[index - 2].text == "@" && tokens[index].isAdjacent
    return isAttribute || ["nonisolated", "dependsOn"].contains(tokens[index - 1].text)
  }

  /// The index after the parenthesis that closes the one at `index`.
  private func endOfBrackets(at index: Int, in tokens: [Token]) -> Int {
    var depth = 0
    for place in index..<tokens.count {
      if tokens[place].text == "(" { depth += 1 }
      if tokens[place].text == ")" { depth -= 1 }
      if depth == 0 { return place + 1 }
    }
    return tokens.count
  }

  /// Whether the name at `index` is that of a type, as its place tells: not a word of the language,
  /// a label, an attribute, or a member.
  private func isType(at index: Int, in tokens: [Token], isInParentheses: Bool) -> Bool {
    let name = tokens[index].text.filter { $0 != "`" }
    guard !Parser.isWord(at: index, in: tokens), !known.contains(name) else { return false }
    let previous = index > 0 ? tokens[index - 1].text : ""
    // After a colon that is adjacent: of a module selector.
    let isSelected = index > 1 && previous == ":" && tokens[index - 2].text == ":"
    if isSelected || ["@", ".", "~"].contains(previous) { return false }
    let next = tokens[min(index + 1, tokens.count - 1)]
    let afterNext = tokens[min(index + 2, tokens.count - 1)]
    if next.text == ":", afterNext.text == ":", afterNext.isAdjacent { return false }
    let isLabel =
      next.text == ":" || (next.kind == .identifier && afterNext.text == ":")
    return !(isInParentheses && isLabel)
  }
}
