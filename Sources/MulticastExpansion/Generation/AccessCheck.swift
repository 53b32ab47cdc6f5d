/// Refuses an access with which the composite does not compile, and warns of one with which the
/// compiler may overlook it.
///
/// In a release build the compiler collects the types that conform to each protocol of the module,
/// if no other module can have any. Swift 6.3 does not look into the expansions of macros there. If
/// it finds one type only, it takes every delegate for an object of that type, also a composite,
/// whose memory is another.
enum AccessCheck {
  static func check(_ context: GenerationContext, _ findings: inout Findings) {
    let declaration = context.declaration
    guard !context.enclosingTypes.isEmpty,
      let modifier = declaration.modifiers.first(where: { $0.name == "private" })
    else { return }
    findings.report(
      """
      an extension at file scope, which forwards what refining protocols inherit, does not see a 'private' protocol \
      in a type: make it 'fileprivate'
      """, at: modifier.range)
  }

  static func warning(_ context: GenerationContext) -> Finding? {
    let declaration = context.declaration
    let isVisibleElsewhere =
      context.accessElsewhere != nil
      || declaration.attributes.contains { $0.baseName == "usableFromInline" }
    if isVisibleElsewhere { return nil }
    return Finding(
      message: """
        if only one other type conforms to '\(declaration.name)', the optimizer of Swift 6.3 takes the composite for \
        that type: make the protocol 'package' or '@usableFromInline'
        """, range: declaration.nameRange, isWarning: true)
  }
}
