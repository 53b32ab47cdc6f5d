/// How expanded code names declarations of other modules, so that no declaration of the user
/// shadows them.
struct Names {
  /// Between a module and its declaration: `::` selects from the module only. A compiler without
  /// module selectors takes a dot, which a type that is named like the module shadows.
  private let separator: String

  init(hasModuleSelectors: Bool) {
    separator = hasModuleSelectors ? "::" : "."
  }

  func library(_ name: String) -> String { "Multicast\(separator)\(name)" }
  func macros(_ name: String) -> String { "MulticastMacros\(separator)\(name)" }
  func standard(_ name: String) -> String { "Swift\(separator)\(name)" }
}

/// The words that need backticks where a value is named.
let keywords: Set<String> = [
  "as", "associatedtype", "await", "break", "case", "catch", "class", "continue", "default",
  "defer", "deinit", "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate",
  "for", "func", "guard", "if", "import", "in", "init", "inout", "internal", "is", "let", "nil",
  "operator", "precedencegroup", "private", "protocol", "public", "repeat", "rethrows", "return",
  "self", "Self", "static", "struct", "subscript", "super", "switch", "throw", "throws", "true",
  "try", "typealias", "var", "where", "while", "Any",
]

/// A name that none of `taken` is: `name` itself, or with a number.
func unique(_ name: String, among taken: Set<String>) -> String {
  guard taken.contains(name) else { return name }
  var number = 2
  while taken.contains("\(name)\(number)") { number += 1 }
  return "\(name)\(number)"
}
