/// The name of a type that is called `Delegate`, as the composite and the extension have it.
///
/// In both, `Delegate` may be the associated type of a composite: it is in bodies, and everywhere
/// else after the compiler has met the composite's conformance. So an alias is beside the protocol,
/// where the name has the meaning that the user gives it.
struct DelegateAlias {
  let context: GenerationContext

  private var name: String { DelegateAlias.name(for: context) }

  /// `_DelegateOfP`
  static func name(for context: GenerationContext) -> String {
    context.quoted("_DelegateOf" + context.plainName)
  }

  /// Whether the associated type hides the first name of a path, as in `Delegate.Kind`.
  static func isHidden(_ path: String) -> Bool {
    path.prefix { $0 != "." }.filter { $0 != "`" } == "Delegate"
  }

  /// Writes the alias, if the protocol is called so, or if a requirement names such a type.
  func write(to code: inout CodeWriter) {
    let requirements = context.declaration.requirements
    let isInTypes =
      context.plainName == "Delegate"
      || requirements.contains { NestedNames($0, in: context).namesDelegate(in: $0) }
    guard isInTypes || requirements.contains(where: isInExpression) else { return }
    code.line()
    code.line("/// The type `Delegate`, which is another one in the composite.")
    code.lines(context.typeAttributes)
    // What only an expression names may have less access than the protocol.
    code.line("\(isInTypes ? context.typeAccess : "fileprivate ")typealias \(name) = Delegate")
  }

  private func isInExpression(_ requirement: Requirement) -> Bool {
    requirement.attributes.filter { $0.baseName == "Answer" }.contains { attribute in
      let answer = try? AnswerAttribute(attribute, in: context.source)
      return answer?.names.tokens.contains { DelegateAlias.isHidden($0.text) } ?? false
    }
  }
}
