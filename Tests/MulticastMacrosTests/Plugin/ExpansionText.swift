@testable import MulticastExpansion

/// The expansion of `@Multicast` on a declaration, without a compiler.
struct ExpansionText {
  let source: String?
  let findings: [Finding]
  private let declaration: Source

  init(
    _ declaration: String, isExtension: Bool = false, hasModuleSelectors: Bool = true
  ) {
    self.declaration = Source(declaration)
    let expansion = Expansion.expand(
      self.declaration, names: Names(hasModuleSelectors: hasModuleSelectors),
      isExtension: isExtension)
    source = expansion.source
    findings = expansion.findings
  }

  /// The text that each finding points at, and the beginning of its message.
  var places: [String] { findings.map { declaration.text($0.range) } }
}
