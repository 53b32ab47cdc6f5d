/// Writes the extension with which composites of refining protocols forward the requirements that
/// they inherit.
struct ExtensionWriter {
  let context: GenerationContext

  func write(to code: inout CodeWriter, _ findings: inout Findings) {
    code.line(
      "/// Forwards what the composites of protocols that refine `\(context.plainName)` inherit.")
    code.lines(context.typeAttributes)
    // In this clause the compiler ignores the module of a name, so the name is one that no user
    // has.
    var constraint = "Self: _MulticastComposite"
    if context.traits.isolation == .actor {
      constraint += ", Self.Delegate: \(context.names.standard("Sendable"))"
    }
    // Otherwise the default isolation of the module is that of the extension.
    let isolation = context.isNonisolated ? "nonisolated " : ""
    code.block("\(isolation)extension \(context.extendedType) where \(constraint)") { code in
      let requirements = RequirementWriter(context: context, site: .refinement)
      requirements.write(context.declaration.members, to: &code, &findings)
    }
  }
}
