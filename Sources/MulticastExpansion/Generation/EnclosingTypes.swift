/// The types around a protocol, or the extensions of types, the innermost first.
struct EnclosingTypes {
  private struct Declaration {
    let isExtension: Bool
    /// `nil` without a word for it.
    let access: String?
  }

  private static let keywords: Set<String> = ["struct", "class", "enum", "actor", "extension"]
  /// The least access first.
  private static let accessLevels = [
    "private", "fileprivate", "internal", "package", "public", "open",
  ]

  private let declarations: [Declaration]

  /// - Parameter sources: the declarations, with or without their members.
  init(_ sources: [String] = []) {
    declarations = sources.map { source in
      let words = Lexer.tokens(of: Array(source.utf8)).map(\.text)
      let modifiers = words.prefix { !Self.keywords.contains($0) }
      return Declaration(
        isExtension: modifiers.count < words.count && words[modifiers.count] == "extension",
        access: modifiers.first { Self.accessLevels.contains($0) })
    }
  }

  /// Whether the protocol is at file scope.
  var isEmpty: Bool { declarations.isEmpty }

  /// The access of a protocol without a word for it: what an extension around it says.
  var defaultAccess: String? {
    guard let innermost = declarations.first, innermost.isExtension else { return nil }
    return innermost.access
  }

  /// Whether a protocol can have this access here. An extension does not tell the access of its
  /// type: then yes.
  func allow(_ access: String) -> Bool {
    declarations.allSatisfy { declaration in
      declaration.isExtension || rank(declaration.access ?? "internal") >= rank(access)
    }
  }

  private func rank(_ access: String) -> Int { Self.accessLevels.firstIndex(of: access)! }
}
