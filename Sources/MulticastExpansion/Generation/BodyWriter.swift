/// The statements that forward one requirement.
struct BodyWriter {
  let forwarding: Forwarding
  let plan: AnswerPlan
  /// The delegates: a property or a call.
  let hub: String
  /// The result of the requirement, where it has one.
  let result: String
  let names: Names
  /// The attribute of the global actor that the calls run on.
  let globalActor: String?

  private var isAsync: Bool { forwarding.requirement.callIsAsync }
  private var errors: Requirement.Errors { forwarding.requirement.callErrors }
  private var canThrow: Bool { errors != .none }
  private var marks: String { (canThrow ? "try " : "") + (isAsync ? "await " : "") }

  /// `{ $0.f(x) }`, with the type of the errors where the compiler does not find it.
  private func closure() -> String {
    guard case .typed(let error) = errors else { return "{ \(marks)\(answer(of: "$0")) }" }
    let delegate = forwarding.local("delegate")
    return "{ \(delegate) throws(\(error)) in \(marks)\(answer(of: delegate)) }"
  }

  private func answer(of delegate: String) -> String {
    forwarding.call(on: delegate) + coercion
  }

  /// ` as T`, where an overload that answers `T?` would do too: a first or last answer is optional.
  private var coercion: String {
    let isOptional = plan.combination == .first || plan.combination == .last
    return isOptional && !plan.isOptional ? " as \(result)" : ""
  }

  func lines() -> [String] {
    if plan.isConcurrent { return concurrent() }
    if isAsync { return loop() }
    if plan.collectsErrors { return ["try \(hub).collectAnswers \(closure()).\(combination())"] }
    return [plan.combination == .none ? call() : answer()]
  }
}

// MARK: - Calls on the calling thread

extension BodyWriter {
  private func call() -> String {
    let attempt = canThrow ? "try " : ""
    if case .typed(let error) = errors {
      let isName = error.allSatisfy { $0.isLetter || $0.isNumber || "_.".contains($0) }
      let type = isName ? error : "(\(error))"
      return "\(attempt)\(hub).forEach(throwing: \(type).self) \(closure())"
    }
    return "\(attempt)\(hub).\(canThrow ? "forEach" : "callEach") \(closure())"
  }

  private func answer() -> String {
    let function: String
    switch plan.combination {
    case .none, .first: function = "firstAnswer"
    case .last: function = "lastAnswer"
    case .all: function = "allAnswers"
    case .every: function = "everyAnswer"
    case .some: function = "someAnswer"
    case .sum: function = "sumOfAnswers"
    case .reduce: function = "reduceAnswers"
    }
    return (canThrow ? "try " : "")
      + "\(hub).\(function)\(arguments) \(closure())\(otherwise)"
  }

  /// `(default: x)`, `(0, +)`, or nothing.
  private var arguments: String {
    switch plan.combination {
    case .reduce(let initial, let combine): return "(\(initial), \(combine))"
    case .every, .some, .sum, .all:
      return plan.absent.map { "(default: \($0))" } ?? ""
    default: return ""
    }
  }

  /// ` ?? x`, for the combinations that may have no answer.
  private var otherwise: String {
    guard plan.combination == .first || plan.combination == .last, let absent = plan.absent else {
      return ""
    }
    return otherwise(absent)
  }

  private func otherwise(_ absent: String) -> String {
    let isSimple = absent.allSatisfy { $0.isLetter || $0.isNumber || "._[]:\"()".contains($0) }
    // Without the type, the compiler does not find out that a closure must be `@Sendable`.
    let isClosure = absent.first { $0 != "(" } == "{"
    let type = isClosure ? " as \(result)" : ""
    return " ?? " + (isSimple ? absent : "(\(absent)\(type))")
  }

  private var optionalResult: String {
    let isSimple = result.allSatisfy { $0.isLetter || $0.isNumber || "._[]".contains($0) }
    return isSimple ? result + "?" : "(\(result))?"
  }

  /// The combination of answers that are collected, as a call.
  private func combination() -> String {
    switch plan.combination {
    case .none: return "get()"
    // With a default, the compiler would choose `first` for answers of any type.
    case .first: return (plan.isOptional ? "firstOfOptionals()" : "first()") + otherwise
    case .last: return (plan.isOptional ? "lastOfOptionals()" : "last()") + otherwise
    case .all: return "all\(parenthesized)"
    case .every: return "every\(parenthesized)"
    case .some: return "some\(parenthesized)"
    case .sum: return "sum\(parenthesized)"
    case .reduce: return "reduce\(parenthesized)"
    }
  }

  private var parenthesized: String { arguments.isEmpty ? "()" : arguments }
}

// MARK: - Calls that suspend

extension BodyWriter {
  private func loop() -> [String] {
    let delegate = forwarding.local("delegate")
    let call = marks + forwarding.call(on: delegate)
    let head = "for \(delegate) in \(hub).callees() {"
    if plan.collectsErrors { return collecting(head, call) }
    let answer = forwarding.local("answer")
    switch plan.combination {
    case .none:
      // With the type, because an overload may have an answer.
      return [head, "  let _: () = \(call)", "}"]
    case .first:
      let (next, present) = next(of: call)
      return [
        head, "  \(next)", "  if let \(answer) = \(present) { return \(answer) }", "}",
        "return \(plan.absent ?? "nil")",
      ]
    case .last:
      let last = forwarding.local("last")
      let (next, present) = next(of: call)
      let type = plan.isOptional ? "\(result) = nil" : optionalResult
      return [
        "var \(answer): \(type)", head, "  \(next)",
        // Not an implicit conversion, which does not take what cannot be copied.
        "  if let \(last) = \(present) { \(answer) = .some(\(last)) }", "}",
        "return \(answer)\(otherwise)",
      ]
    case .every:
      return [
        "var \(answer) = \(plan.absent ?? "true")", head, "  \(answer) = \(call)",
        "  if !\(answer) { return false }", "}", "return \(answer)",
      ]
    case .some:
      return [
        "var \(answer) = \(plan.absent ?? "false")", head, "  \(answer) = \(call)",
        "  if \(answer) { return true }", "}", "return \(answer)",
      ]
    case .sum, .all:
      // Not `[]`: a string has no such literal.
      let zero = plan.combination == .sum ? ".zero" : ".init()"
      if let absent = plan.absent {
        return [
          // With `+`, each answer would copy all before it.
          "var \(answer): \(optionalResult)", head, "  \(next(of: call).declaration)",
          "  if \(answer) == nil { \(answer) = .some(\(forwarding.local("next"))) } "
            + "else { \(answer)! += \(forwarding.local("next")) }", "}",
          "return \(answer)\(otherwise(absent))",
        ]
      }
      return [
        "var \(answer): \(result) = \(zero)", head, "  \(answer) += \(call)", "}",
        "return \(answer)",
      ]
    case .reduce(let initial, let combine):
      let function = forwarding.local("combine")
      return [
        // In parentheses, because it may be an operator.
        "let \(function): (\(result), \(result)) -> \(result) = (\(combine))",
        "var \(answer): \(result) = \(initial)", head,
        "  \(answer) = \(function)(\(answer), \(call))", "}",
        "return \(answer)",
      ]
    }
  }

  /// A variable with the answer of one delegate, and an optional of it.
  ///
  /// The variable names the type: that of a generic requirement may follow from its result alone.
  private func next(of call: String) -> (declaration: String, optional: String) {
    let next = forwarding.local("next")
    let declaration = "let \(next): \(result) = \(call)"
    if plan.isOptional { return (declaration, next) }
    // An answer is an optional already if an alias hides that. Of a metatype, which is none, the
    // compiler would not find the type of the function.
    let isMetatype = result.hasSuffix(".Type")
    let function = isMetatype ? names.standard("Optional") : names.macros("presentAnswer")
    return (declaration, "\(function)(\(next))")
  }

  /// All are called; the first error is thrown afterwards.
  private func collecting(_ head: String, _ call: String) -> [String] {
    let answers = forwarding.local("answers")
    let value = plan.combination == .none ? "()" : result
    var error = "any \(names.standard("Error"))"
    var attempt = "do {"
    if case .typed(let type) = errors {
      error = type
      attempt = "do throws(\(type)) {"
    }
    return [
      "var \(answers) = \(names.macros("Answers"))<\(value), \(error)>()", head, "  \(attempt)",
      "    \(answers).append(.success(\(call)))", "  } catch {",
      "    \(answers).append(.failure(error))",
      "  }", "}", "return try \(answers).\(combination())",
    ]
  }

  private func concurrent() -> [String] {
    let count = forwarding.requirement.parameters.count
    var head: [String] = []
    if let globalActor { head.append(globalActor) }
    var signature: [String] = [forwarding.local("delegate")]
    if count > 0 { signature.append(forwarding.local("arguments")) }
    let needsNames = globalActor != nil || isTyped
    let delegate = needsNames ? signature[0] : "$0"
    let argument = needsNames ? (signature.last ?? "") : "$1"
    if needsNames {
      var clause = signature.joined(separator: ", ")
      if case .typed(let error) = errors { clause += " throws(\(error))" }
      head.append(clause + " in")
    }
    let call = forwarding.call(on: delegate) { count == 1 ? argument : "\(argument).\($0)" }
    let start = (head + [marks + call + coercion]).joined(separator: " ")
    let values = (0..<count).map { forwarding.value($0) }.joined(separator: ", ")
    var labels = count == 0 ? [] : ["with: " + (count == 1 ? values : "(\(values))")]
    if canThrow, !plan.collectsErrors { labels.append("stopsAtFirstError: true") }
    let list = labels.isEmpty ? "" : "(\(labels.joined(separator: ", ")))"
    return ["\(marks)\(hub).concurrentAnswers\(list) { \(start) }.\(combination())"]
  }

  private var isTyped: Bool {
    if case .typed = errors { return true }
    return false
  }
}
