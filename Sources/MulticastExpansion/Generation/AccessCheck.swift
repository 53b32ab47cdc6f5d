/// Warns of a protocol whose composite the compiler may overlook.
///
/// In a release build the compiler collects the types that conform to each protocol of the module, if no other
/// module can have any. Swift 6.3 does not look into the expansions of macros there. If it finds one type only, it
/// takes every delegate for an object of that type, also a composite, whose memory is another.
enum AccessCheck {
  private static let accessLevels: Set<String> = ["package", "public", "open"]

  static func warning(_ declaration: ProtocolDeclaration) -> Finding? {
    let isVisibleElsewhere =
      declaration.modifiers.contains { accessLevels.contains($0.name) }
      || declaration.attributes.contains { $0.baseName == "usableFromInline" }
    if isVisibleElsewhere { return nil }
    return Finding(
      message: """
        if only one other type conforms to '\(declaration.name)', the optimizer of Swift 6.3 takes the composite for \
        that type: make the protocol 'package' or '@usableFromInline'
        """, range: declaration.nameRange, isWarning: true)
  }
}
