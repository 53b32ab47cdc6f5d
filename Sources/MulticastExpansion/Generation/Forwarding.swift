/// The call of one requirement on one delegate, as text.
struct Forwarding {
  let requirement: Requirement
  /// The names of the parameters, as they are declared.
  let parameterNames: [String]
  /// Those that the expressions of `@Answer` use.
  private let expressionNames: Set<String>
  /// The names of types whose values can certainly be copied.
  private let copyableNames: Set<String>

  init(
    _ requirement: Requirement, expressions: ExpressionNames, in declaration: ProtocolDeclaration
  ) {
    self.requirement = requirement
    copyableNames = Set(requirement.genericNames).subtracting(requirement.noncopyableNames)
      .union(declaration.copyableAssociatedTypes)
    expressionNames = Set(expressions.tokens.map(\.text))
    var taken = Set(requirement.parameters.compactMap { $0.name ?? $0.label })
    var names: [String] = []
    for (index, parameter) in requirement.parameters.enumerated() {
      var name = parameter.name ?? parameter.label
      if name == "_" || ["self", "Self", "init"].contains(name) {
        name = unique(
          requirement.parameters.count == 1 ? "argument" : "argument\(index + 1)", among: taken)
        taken.insert(name)
      }
      names.append(name)
    }
    parameterNames = names
  }

  /// A name that no parameter has, and no expression uses.
  func local(_ name: String) -> String {
    unique(name, among: expressionNames.union(parameterNames.map { $0.filter { $0 != "`" } }))
  }

  /// What a setter is passed: `newValue`, unless a parameter of the subscript is called so.
  var newValue: String { local("newValue") }

  /// `(_ file: String, of count: Int)`
  var parameterList: String {
    let parameters = zip(requirement.parameters, parameterNames).map { parameter, name in
      // One name is the label of a function's parameter, but not of a subscript's.
      let hasOneName =
        requirement.kind == .subscripting ? parameter.name == nil : parameter.label == name
      let label = hasOneName ? name : "\(parameter.label) \(name)"
      let attributes = parameter.attributes.map { $0.text + " " }.joined()
      return "\(attributes)\(label): \(declaredType(parameter.type))"
        + (parameter.isVariadic ? "..." : "")
    }
    return "(\(parameters.joined(separator: ", ")))"
  }

  /// The type as the composite declares it: it copies what a delegate consumes.
  private func declaredType(_ type: TypeSyntax) -> String {
    // What is Sendable needs no transfer.
    let transfers = type.isStandardSendable ? ["sending "] : []
    // A closure cannot capture every value that is borrowed, if it can be copied.
    let borrows = isCopyable(type) ? ["borrowing "] : []
    for word in ["consuming ", "__owned "] + transfers + borrows where type.text.hasPrefix(word) {
      return String(type.text.dropFirst(word.count))
    }
    return type.text
  }

  /// Whether values of a type can certainly be copied.
  private func isCopyable(_ type: TypeSyntax) -> Bool {
    switch type.structure {
    case .named(let names):
      // Also an associated type of one: `Self.Item`, `T.Element`.
      let first = names.map(\.name).first { $0 != "Self" } ?? ""
      return copyableNames.contains(first) || type.isStandardSendable
    case .optional(let wrapped): return isCopyable(wrapped)
    case .array, .dictionary: return true
    case .tuple(let elements): return elements.allSatisfy(isCopyable)
    case .function: return false
    case .other:
      let words = type.text.dropFirst(type.specifiers.map { $0 + " " }.joined().count)
        .drop { $0 == "(" }
      return !type.isNoncopyable && ["some ", "any "].contains(where: words.hasPrefix)
    }
  }

  /// `(file, of: count)`, with each argument as `value` spells it.
  func arguments(_ value: (Int) -> String) -> String {
    let isSubscript = requirement.kind == .subscripting
    let arguments = requirement.parameters.enumerated().map { index, parameter in
      // A subscript has labels only where the source has two names.
      let hasLabel = parameter.label != "_" && (!isSubscript || parameter.name != nil)
      return (hasLabel ? Forwarding.label(parameter) + ": " : "")
        + argument(parameter, value(index))
    }
    let list = arguments.joined(separator: ", ")
    return isSubscript ? "[\(list)]" : "(\(list))"
  }

  /// The label at a call, where the compiler warns of backticks that are not needed.
  private static func label(_ parameter: Parameter) -> String {
    let name = parameter.label.filter { $0 != "`" }
    let isWord = name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
    let needsNone = isWord && name.first?.isNumber == false && !["inout", "_"].contains(name)
    return needsNone ? name : parameter.label
  }

  private func argument(_ parameter: Parameter, _ value: String) -> String {
    let type = parameter.type
    if type.has("inout") { return "&" + value }
    if type.has("@autoclosure") {
      // Its parameter list is empty, so the first arrow is its own.
      let effects = type.text.split(separator: "->")[0]
      let isThrowing = effects.contains("throws")
      let isAsync = effects.contains("async")
      return (isThrowing ? "try " : "") + (isAsync ? "await " : "") + value + "()"
    }
    if type.isPack { return "repeat each " + value }
    return value
  }

  /// A parameter as it is named in a body.
  func value(_ index: Int) -> String {
    let name = parameterNames[index]
    return keywords.contains(name) ? "`\(name)`" : name
  }

  /// `delegate.didFinish(file)`, `delegate.title`, `delegate[index]`.
  func call(on delegate: String, _ value: ((Int) -> String)? = nil) -> String {
    let arguments = { self.arguments(value ?? self.value) }
    switch requirement.kind {
    case .variable: return "\(delegate).\(requirement.name)"
    case .subscripting: return delegate + arguments()
    default: return "\(delegate).\(requirement.name)\(arguments())"
    }
  }

  /// Whether an argument lives only as long as the call, so that the call cannot be delivered
  /// later.
  var hasArgumentOfTheCall: Bool {
    requirement.parameters.contains { parameter in
      let type = parameter.type
      let isScoped = !Set(type.specifiers).isDisjoint(with: [
        "inout", "borrowing", "isolated", "__shared",
      ])
      let isLocalClosure = type.isFunction && !type.has("@escaping")
      return isScoped || isLocalClosure || type.isPack || type.has("@autoclosure") || type.isSpan
    } || requirement.genericParameters.contains("~")
      || requirement.constraints.contains { $0.right.text.hasPrefix("~") }
  }

  /// The first parameter with a closure that no other thread may call. One of a global actor is
  /// Sendable.
  var unsendableClosure: Parameter? {
    requirement.parameters.first { parameter in
      let type = parameter.type
      let isSendable = type.specifiers.contains { specifier in
        specifier.first == "@" && specifier.dropFirst().contains(where: \.isUppercase)
      }
      return type.isFunction && type.has("@escaping") && !isSendable
        && !type.text.contains("@MainActor")
    }
  }
}
