/// A declaration of a protocol, parsed.
struct ProtocolDeclaration {
  var attributes: [Attribute] = []
  var modifiers: [Modifier] = []
  /// With backticks, if the source has them.
  var name = ""
  var nameRange = 0..<0
  var primaryAssociatedTypes: [String] = []
  var inherited: [TypeSyntax] = []
  /// The requirements after `where`.
  var constraints: [Constraint] = []
  var members: [Member] = []

  /// The word for its access; `nil`: it has none.
  var access: String? {
    let words = ["public", "package", "internal", "fileprivate", "private"]
    return modifiers.first { words.contains($0.name) }?.name
  }
}

/// A member, or members under a condition.
indirect enum Member {
  case requirement(Requirement)
  case conditional([ConditionalClause])
}

/// The members after one `#if`, `#elseif` or `#else`.
struct ConditionalClause {
  /// The line with the condition.
  var directive: String
  var members: [Member]
}

/// `@name(arguments)`.
struct Attribute {
  /// With the types and modules before it.
  var name: String
  /// From the opening parenthesis to the closing one.
  var arguments: [Token] = []
  /// The text without comments, on one line.
  var text: String
  var range: Range<Int>

  /// The name without the types and modules before it, and without generic arguments.
  var baseName: String {
    let path = name.prefix { $0 != "<" }
    return String(path.split { $0 == "." || $0 == ":" }.last ?? "")
  }
}

/// `public`, `nonisolated(unsafe)`.
struct Modifier {
  var name: String
  var text: String
  var range: Range<Int>
}

/// One requirement of a `where` clause.
struct Constraint {
  var left: TypeSyntax
  /// `:` or `==`.
  var relation: String
  var right: TypeSyntax
  /// Every identifier in it.
  var names: [String] { left.names + right.names }
  var text: String { "\(left.text)\(relation == ":" ? ":" : " ==") \(right.text)" }
}

/// One requirement of a protocol.
struct Requirement {
  enum Kind: Equatable {
    case function
    case initializer
    case variable
    case subscripting
    case associatedType
    case typeAlias
    /// Macros, `#warning`, and what a newer compiler may know.
    case other
  }

  var kind: Kind
  var attributes: [Attribute] = []
  var modifiers: [Modifier] = []
  /// The lines of the comment before it.
  var documentation: [String] = []
  /// With backticks. The characters of an operator.
  var name = ""
  var nameRange = 0..<0
  /// From `<` to `>`, or empty.
  var genericParameters = ""
  /// The names of the generic parameters.
  var genericNames: [String] = []
  /// Those of generic parameters whose values may be such that cannot be copied.
  var noncopyableNames: [String] = []
  var parameters: [Parameter] = []
  /// Of a function; accessors have effects of their own.
  var isAsync = false
  /// Of a function, too.
  var errors = Errors.none
  /// The result; of a variable its type.
  var result: TypeSyntax?
  var constraints: [Constraint] = []
  var accessors: [Accessor] = []
  var range = 0..<0

  enum Errors: Equatable {
    case none
    case any
    case rethrown
    case typed(String)
  }

  func modifier(_ name: String) -> Modifier? { modifiers.first { $0.name == name } }

  var getter: Accessor? { accessors.first { $0.kind == "get" } }
  var setter: Accessor? { accessors.first { $0.kind == "set" } }

  /// Whether a call of it, or reading it, may suspend.
  var callIsAsync: Bool { getter?.isAsync ?? isAsync }
  /// What a call of it, or reading it, throws.
  var callErrors: Errors { getter?.errors ?? errors }
}

/// One parameter of a function or a subscript.
struct Parameter {
  var attributes: [Attribute] = []
  /// The label, or `_`.
  var label: String
  /// The name inside the function, if the source has one that differs.
  var name: String?
  var type: TypeSyntax
  var isVariadic = false
  var range: Range<Int>
}

/// `get`, `set` or another accessor, with its effects.
struct Accessor {
  var kind: String
  var modifiers: [String] = []
  var isAsync = false
  var errors = Requirement.Errors.none
  var range: Range<Int>
}
