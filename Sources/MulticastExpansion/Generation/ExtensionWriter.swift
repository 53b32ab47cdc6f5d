/// Writes the extension with which composites of refining protocols forward the requirements that they
/// inherit.
struct ExtensionWriter {
  let context: GenerationContext

  func write(to code: inout CodeWriter, _ findings: inout Findings) {
    code.line("/// Forwards what the composites of protocols that refine `\(context.plainName)` inherit.")
    code.lines(context.typeAttributes)
    let constraint = "Self: \(context.names.macros("MulticastComposite"))"
    code.block("extension \(context.extendedType) where \(constraint)") { code in
      let requirements = RequirementWriter(context: context, site: .refinement)
      requirements.write(context.declaration.members, to: &code, &findings)
    }
  }
}
