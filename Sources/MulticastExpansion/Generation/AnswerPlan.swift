/// How the answers of the delegates become the answer of the composite.
struct AnswerPlan {
  enum Combination: Equatable {
    /// There is no answer.
    case none
    case first
    case last
    case all
    case every
    case some
    case sum
    case reduce(initial: String, combine: String)
  }

  var combination: Combination
  /// Whether each answer is optional, and `nil` is none.
  var isOptional = false
  /// The expression that is returned without delegates.
  var absent: String?
  var collectsErrors = false
  var isConcurrent = false

  /// One sentence for the doc comment.
  var summary: String {
    let absence = absent == nil ? "" : " Without delegates: the default of its `@Answer`."
    let order = isConcurrent ? "concurrently" : "in registration order"
    switch combination {
    case .none:
      return "Calls each delegate, \(order)."
    case .first where isOptional:
      return "The first answer that is not `nil`.\(absence)"
    case .first:
      return "The answer of the first delegate.\(absence)"
    case .last where isOptional:
      return "The last answer that is not `nil`.\(absence)"
    case .last:
      return "The answer of the last delegate.\(absence)"
    case .all:
      return "The answers of all delegates, joined in registration order."
    case .every:
      return
        "Whether every delegate answers `true`.\(absence.isEmpty ? " Without delegates: `true`." : absence)"
    case .some:
      return
        "Whether a delegate answers `true`.\(absence.isEmpty ? " Without delegates: `false`." : absence)"
    case .sum:
      return "The sum of the answers.\(absence.isEmpty ? " Without delegates: zero." : absence)"
    case .reduce:
      return "The answers, combined in registration order."
    }
  }
}

extension AnswerPlan {
  private static let choices =
    "@Answer(.first, default: …), .last, .sum or .reduce(initial, combine)"

  /// The plan for a requirement with this `@Answer`.
  init(for requirement: Requirement, _ attribute: AnswerAttribute?) throws(Finding) {
    let policy = attribute?.policy
    combination = .none
    absent = attribute?.absent
    collectsErrors = attribute?.collectsErrors ?? false
    isConcurrent = attribute?.isConcurrent ?? false
    let place = attribute?.range ?? requirement.nameRange
    if collectsErrors, requirement.callErrors == .none {
      throw Finding(message: "this requirement throws no error: remove 'errors:'", range: place)
    }
    if collectsErrors, requirement.callErrors == .rethrown {
      throw Finding(
        message: "a requirement that rethrows ends at the first error: remove 'errors:'",
        range: place)
    }
    if isConcurrent, !requirement.callIsAsync {
      throw Finding(message: "this requirement is not async: remove 'calls:'", range: place)
    }
    guard let result = requirement.result, !result.isVoid else {
      if absent != nil || (policy != nil && policy != .inline) {
        throw Finding(
          message: "this requirement returns nothing, so it takes no policy and no default",
          range: place)
      }
      return
    }
    if result.isNever {
      throw Finding(
        message: "a requirement that never returns cannot be forwarded to several delegates",
        range: result.range)
    }
    isOptional = result.wrapped != nil
    // Setting a property is a call without an answer.
    let isOfSetter = policy == .inline && requirement.setter != nil
    combination = try AnswerPlan.combination(isOfSetter ? nil : policy, for: result, at: place)
    try check(result, at: place)
  }

  private static func combination(
    _ policy: AnswerAttribute.Policy?, for result: TypeSyntax, at place: Range<Int>
  ) throws(Finding) -> Combination {
    guard let policy else { return try standard(for: result) }
    switch policy {
    case .first: return .first
    case .last: return .last
    case .all: return .all
    case .every: return .every
    case .some: return .some
    case .sum: return .sum
    case .reduce(let initial, let combine): return .reduce(initial: initial, combine: combine)
    case .inline, .notForwarded:
      throw Finding(
        message:
          "a requirement with an answer is called on the calling thread anyway: remove '.inline'",
        range: place)
    }
  }

  /// The combination without a policy: all must agree, the first that is not `nil`, all joined.
  private static func standard(for result: TypeSyntax) throws(Finding) -> Combination {
    if result.isBool { return .every }
    if result.wrapped != nil { return .first }
    if result.element != nil { return .all }
    throw Finding(
      message: """
        '\(result.text)' needs a policy for the answers of several delegates: write \
        \(choices)
        """, range: result.range)
  }

  private static let numbers: Set<String> = [
    "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64",
    "Double", "Float", "Duration", "CGFloat", "TimeInterval", "Decimal",
  ]

  /// Reports what a result can certainly not be combined by.
  private mutating func check(_ result: TypeSyntax, at place: Range<Int>) throws(Finding) {
    let isNamed = result.standardName != nil
    let isNumber = result.standardName.map(AnswerPlan.numbers.contains) ?? false
    switch combination {
    case .first, .last:
      if isOptional || absent != nil { return }
      if result.element != nil { absent = "[]"; return }
      if case .dictionary = result.structure { absent = "[:]"; return }
      throw Finding(
        message: """
          '.\(combination == .first ? "first" : "last")' has no answer without delegates: add 'default:'
          """, range: place)
    case .every, .some:
      if result.isBool || (isNamed && !isNumber && result.standardName != "String") { return }
      throw Finding(
        message: "'.every' and '.some' combine Bool answers, and this one is '\(result.text)'",
        range: place)
    case .all:
      if result.element != nil || result.standardName == "String" { return }
      // Another name may be that of a collection.
      if case .named = result.structure, !isNumber, !result.isBool, !isOptional { return }
      throw Finding(
        message: "'.all' joins arrays, and this answer is '\(result.text)'", range: place)
    case .sum:
      if !isOptional, result.element == nil, !result.isBool, result.standardName != "String" {
        return
      }
      throw Finding(
        message: "'.sum' adds numbers, and this answer is '\(result.text)'", range: place)
    case .reduce:
      if absent == nil { return }
      throw Finding(
        message: "'.reduce' returns its initial value without delegates: remove 'default:'",
        range: place)
    case .none:
      return
    }
  }
}
