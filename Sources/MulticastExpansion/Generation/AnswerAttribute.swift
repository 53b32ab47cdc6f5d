/// The arguments of `@Answer`.
struct AnswerAttribute {
  enum Policy: Equatable {
    case first
    case last
    case all
    case every
    case some
    case sum
    case reduce(initial: String, combine: String)
    /// Calls on the calling thread.
    case inline
    /// Leaves the requirement to an extension of the protocol.
    case notForwarded
  }

  var policy: Policy?
  /// The expression that is returned without delegates.
  var absent: String?
  /// Calls all, and throws the first error afterwards.
  var collectsErrors = false
  var isConcurrent = false
  /// The names in the expressions.
  var names = ExpressionNames()
  var range: Range<Int>

  private static let simple: [String: Policy] = [
    "first": .first, "last": .last, "all": .all, "every": .every, "some": .some, "sum": .sum,
    "inline": .inline, "notForwarded": .notForwarded,
  ]

  init(_ attribute: Attribute, in source: Source) throws(Finding) {
    range = attribute.range
    for argument in AnswerAttribute.arguments(of: attribute.arguments) {
      let value = argument.value
      switch argument.label {
      case nil:
        policy = try AnswerAttribute.policy(value, &names, in: source)
      case "default":
        absent = AnswerAttribute.text(value, in: source)
        names.add(value)
      case "errors":
        collectsErrors =
          try AnswerAttribute.choice(value, of: ["firstStops", "afterAll"]) == "afterAll"
      case "calls":
        isConcurrent =
          try AnswerAttribute.choice(value, of: ["inOrder", "concurrent"]) == "concurrent"
      case let label?:
        throw Finding(message: "'@Answer' has no argument '\(label)'", range: value.range)
      }
    }
  }

  /// - Returns: `nil` for the one that the type of the answer stands for.
  private static func policy(
    _ value: ArraySlice<Token>, _ names: inout ExpressionNames, in source: Source
  ) throws(Finding) -> Policy? {
    // `.first`, `AnswerPolicy.first`, `.reduce(initial, combine)`, `.reduce(initial) { … }`
    guard var dot = value.firstIndex(where: { $0.text == "." }), dot + 1 < value.endIndex else {
      throw Finding(message: Self.unknownPolicy, range: value.range)
    }
    // The module may be before the type.
    while dot + 3 < value.endIndex, value[dot + 2].text == "." { dot += 2 }
    let name = value[dot + 1]
    let rest = value[(dot + 2)...]
    if name.text == "standard", rest.isEmpty { return nil }
    if let policy = simple[name.text], rest.isEmpty { return policy }
    guard name.text == "reduce", rest.first?.text == "(" else {
      throw Finding(message: Self.unknownPolicy, range: name.range)
    }
    var depth = 0
    let close = rest.firstIndex { token in
      if ["(", "[", "{"].contains(token.text) { depth += 1 }
      if [")", "]", "}"].contains(token.text) { depth -= 1 }
      return depth == 0
    }
    let end = close.map { $0 + 1 } ?? rest.endIndex
    var arguments = AnswerAttribute.arguments(of: Array(rest[..<end])).map(\.value)
    if end < rest.endIndex { arguments.append(rest[end...]) }
    guard arguments.count == 2 else {
      throw Finding(message: "'.reduce' takes an initial value and a function", range: rest.range)
    }
    for argument in arguments { names.add(argument) }
    return .reduce(initial: text(arguments[0], in: source), combine: text(arguments[1], in: source))
  }

  private static var unknownPolicy: String {
    """
    '@Answer' takes .first, .last, .all, .every, .some, .sum, .reduce(initial, combine), .inline or \
    .notForwarded
    """
  }

  private static func choice(
    _ value: ArraySlice<Token>, of names: [String]
  ) throws(Finding) -> String {
    if let last = value.last, names.contains(last.text) { return last.text }
    throw Finding(
      message: "write \(names.map { "." + $0 }.joined(separator: " or "))", range: value.range)
  }

  private static func text(_ tokens: ArraySlice<Token>, in source: Source) -> String {
    tokens.isEmpty ? "" : source.text(tokens.range)
  }

  /// The arguments between parentheses, at their commas.
  private static func arguments(
    of tokens: [Token]
  ) -> [(label: String?, value: ArraySlice<Token>)] {
    guard tokens.count > 2 else { return [] }
    var result: [(label: String?, value: ArraySlice<Token>)] = []
    var start = 1
    var depth = 0
    /// Up to there, commas are those between generic arguments.
    var end = 0
    for index in 1..<tokens.count {
      let token = tokens[index]
      guard index >= end else { continue }
      if token.text == "<" { end = endOfGenericArguments(at: index, in: tokens) ?? end }
      if depth == 0, token.text == "," || index == tokens.count - 1 {
        if start < index {
          let isLabelled =
            index - start > 2 && tokens[start + 1].text == ":" && tokens[start].kind == .identifier
          let value = tokens[(isLabelled ? start + 2 : start)..<index]
          result.append((isLabelled ? tokens[start].text : nil, value))
        }
        start = index + 1
      }
      guard token.kind == .punctuation else { continue }
      if ["(", "[", "{"].contains(token.text) { depth += 1 }
      if [")", "]", "}"].contains(token.text) { depth -= 1 }
    }
    return result
  }
}

extension AnswerAttribute {
  /// The index of what follows the generic arguments that `<` at `index` begins; `nil`: it begins
  /// none.
  private static func endOfGenericArguments(at index: Int, in tokens: [Token]) -> Int? {
    guard tokens[index].isAdjacent, tokens[index - 1].kind == .identifier else { return nil }
    var depth = 0
    for position in index..<tokens.count {
      let token = tokens[position]
      switch token.text {
      case "<": depth += 1
      // Not that of `->`.
      case ">" where !(token.isAdjacent && tokens[position - 1].text == "-"):
        depth -= 1
        guard depth == 0 else { continue }
        let next = position + 1
        let follows =
          next < tokens.count && ["(", ".", ",", ")", "]", ":", "?"].contains(tokens[next].text)
        return follows ? next : nil
      default:
        // An integer is the argument of a value parameter.
        let isOfType =
          token.kind == .identifier
          || (token.kind == .integerOrFloat && !token.text.contains("."))
          || [",", ".", ":", "?", "!", "[", "]", "(", ")", "&", "-", ">", "@"].contains(token.text)
        if !isOfType { return nil }
      }
    }
    return nil
  }
}

extension BidirectionalCollection<Token> {
  /// From the first token to the last one.
  var range: Range<Int> {
    guard let first, let last else { return 0..<0 }
    return first.range.lowerBound..<last.range.upperBound
  }
}
