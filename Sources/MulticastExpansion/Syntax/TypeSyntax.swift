/// A type as it stands in the source, with what the generator must know of its structure.
///
/// Parentheses around one type are not part of it.
indirect enum TypeStructure: Equatable {
  /// `A`, `A.B<C>`, `M::A`: the names with their generic arguments.
  case named([TypeName])
  case optional(TypeSyntax)
  case array(TypeSyntax)
  case dictionary
  case tuple([TypeSyntax])
  case function
  /// `some P`, `any P`, `repeat each T`, `~P`, `P & Q`, `inout T`, metatypes, `[3 of T]`.
  case other
}

struct TypeName: Equatable {
  var name: String
  var arguments: [TypeSyntax] = []
}

/// A type in a requirement.
struct TypeSyntax: Equatable {
  var structure: TypeStructure
  /// The text without comments, on one line.
  var text: String
  var range: Range<Int>
  /// The words and attributes before it: `inout`, `borrowing`, `@escaping`, `isolated`.
  var specifiers: [String] = []
  /// Every identifier in it, at any depth.
  var names: [String] = []
}

extension TypeSyntax {
  func has(_ specifier: String) -> Bool { specifiers.contains(specifier) }

  /// The last name of a type without generic arguments, if nothing but a known module precedes it.
  var standardName: String? {
    guard case .named(let names) = structure, names.allSatisfy({ $0.arguments.isEmpty }) else {
      return nil
    }
    if names.count == 1 { return names[0].name }
    if names.count == 2, names[0].name == "Swift" { return names[1].name }
    return nil
  }

  /// The identifiers outside of generic arguments: `Table` and `Sendable` of
  /// `Table<any Error> & Sendable`.
  var baseNames: [String] {
    var depth = 0
    return Lexer.tokens(of: Array(text.utf8)).map(\.text).filter { token in
      if token.allSatisfy({ "<>".contains($0) }) {
        for bracket in token { depth += bracket == "<" ? 1 : -1 }
      }
      return depth == 0 && names.contains(token)
    }
  }

  /// The type as a variable has it, which is neither sent nor unwrapped implicitly.
  var textOfVariable: String {
    let prefix = "sending "
    let type = text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text
    return type.hasSuffix("!") ? type.dropLast() + "?" : type
  }

  /// `(T).self` of a name, which may hide a closure that does not escape; `nil` of others, whose
  /// values a function can take instead, and where a parameter hides a name.
  func textOfType(besides parameters: [String]) -> String? {
    guard case .named = structure else { return nil }
    let tokens = Lexer.tokens(of: Array(text.utf8)).map(\.text)
    guard Set(parameters + ["some"]).isDisjoint(with: tokens) else { return nil }
    return "(\(text.dropFirst(specifiers.map { $0 + " " }.joined().count))).self"
  }

  var isVoid: Bool {
    if case .tuple(let elements) = structure { return elements.isEmpty }
    return standardName == "Void"
  }

  var isBool: Bool { standardName == "Bool" }

  var isNever: Bool { standardName == "Never" }

  /// The type that an optional wraps.
  var wrapped: TypeSyntax? {
    if case .optional(let wrapped) = structure { return wrapped }
    return argument(of: "Optional")
  }

  /// The type of the elements of an array.
  var element: TypeSyntax? {
    if case .array(let element) = structure { return element }
    return argument(of: "Array")
  }

  private func argument(of name: String) -> TypeSyntax? {
    guard case .named(let names) = structure, let last = names.last, last.name == name,
      names.count == 1 || (names.count == 2 && names[0].name == "Swift"), last.arguments.count == 1
    else { return nil }
    return last.arguments[0]
  }

  /// Whether it says that values need not be such that can be copied.
  var isNoncopyable: Bool { text.contains("~") && names.contains("Copyable") }

  /// Whether a value of this type is a function.
  var isFunction: Bool { structure == .function }
}

extension TypeSyntax {
  var isPack: Bool { text.hasPrefix("repeat ") }

  /// Whether it is a tuple of a pack, or an optional or an array of one.
  var hasTupleOfPack: Bool {
    switch structure {
    case .optional(let type), .array(let type): type.hasTupleOfPack
    case .tuple(let types): types.contains { $0.isPack || $0.hasTupleOfPack }
    case .named, .dictionary, .function, .other: false
    }
  }
}

extension TypeSyntax {
  private static let spanNames: Set<String> = [
    "Span", "RawSpan", "MutableSpan", "MutableRawSpan", "OutputSpan", "OutputRawSpan", "UTF8Span",
  ]

  /// Whether it is a view of memory that does not leave the call.
  var isSpan: Bool {
    guard case .named(let names) = structure, let name = names.last else { return false }
    return names.count <= 2 && TypeSyntax.spanNames.contains(name.name)
  }
}

extension TypeSyntax {
  private static let sendableNames: Set<String> = [
    "Bool", "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64",
    "Float", "Double", "String", "Character", "Duration", "Void",
  ]

  /// Whether it is certainly Sendable: built from types of the standard library that everybody
  /// knows.
  var isStandardSendable: Bool {
    guard specifiers.allSatisfy({ ["consuming", "sending", "__owned"].contains($0) }) else {
      return false
    }
    switch structure {
    case .named: return standardName.map(TypeSyntax.sendableNames.contains) ?? false
    case .optional(let type), .array(let type): return type.isStandardSendable
    case .tuple(let types): return types.allSatisfy(\.isStandardSendable)
    case .dictionary, .function, .other: return false
    }
  }
}
