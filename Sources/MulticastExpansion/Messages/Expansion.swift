import Foundation

/// One expansion: from a message of the compiler to source and diagnostics.
struct Expansion {
  let result: (source: String?, diagnostics: [PluginMessage.Diagnostic])

  init(_ request: HostMessage.ExpandAttachedMacro) {
    let location = request.declSyntax.location
    let source = Source(
      request.declSyntax.source, fileName: location?.fileName ?? "", offset: location?.offset ?? 0)
    switch (request.macro.typeName, request.macroRole) {
    case ("MulticastMacro", "peer"), ("MulticastMacro", "extension"):
      let configuration = Expansion.configuration(request)
      let names = Names(
        hasModuleSelectors: configuration?.features?.contains("ModuleSelector") ?? false)
      let expansion = Expansion.expand(
        source, names: names, extendedType: request.extendedTypeSyntax?.source,
        enclosingTypes: EnclosingTypes(request.lexicalContext?.map(\.source) ?? []),
        isExtension: request.macroRole == "extension",
        isReleaseBuild: configuration?.isReleaseBuild ?? false)
      result = (expansion.source, expansion.findings.map { .init($0, in: source) })
    case ("AnswerMacro", _):
      result = ("", Expansion.checkAnswer(request))
    default:
      result = (
        nil,
        [
          .init(
            message: "'@Multicast' does not know the macro '\(request.macro.typeName)'",
            position: .none)
        ]
      )
    }
  }

  /// The source of the composite, or of the extension.
  static func expand(
    _ source: Source, names: Names, extendedType: String? = nil,
    enclosingTypes: EnclosingTypes = EnclosingTypes(), isExtension: Bool = false,
    isReleaseBuild: Bool = false
  ) -> (source: String?, findings: [Finding]) {
    let declaration: ProtocolDeclaration
    do throws(SyntaxError) {
      declaration = try Parser.parse(source)
    } catch {
      // The other role reports it.
      return (nil, isExtension ? [] : [Finding(message: error.message, range: error.range)])
    }
    let context = GenerationContext(
      source: source, declaration: declaration, names: names,
      extendedType: extendedType?.trimmingCharacters(in: .whitespacesAndNewlines),
      enclosingTypes: enclosingTypes)
    var findings = Findings()
    var code = CodeWriter()
    RequirementCheck(declaration: declaration, traits: context.traits).checkProtocol(&findings)
    AccessCheck.check(context, &findings)
    if isExtension {
      ExtensionWriter(context: context).write(to: &code, &findings)
    } else {
      CompositeWriter(context: context).write(to: &code, &findings)
    }
    guard findings.isEmpty else { return (nil, isExtension ? [] : findings.all) }
    let warning = isReleaseBuild && !isExtension ? AccessCheck.warning(context) : nil
    return (code.text, warning.map { [$0] } ?? [])
  }

  /// Reports an `@Answer` that no `@Multicast` reads.
  private static func checkAnswer(
    _ request: HostMessage.ExpandAttachedMacro
  ) -> [PluginMessage.Diagnostic] {
    guard let outer = request.lexicalContext?.first?.source else { return [] }
    let tokens = Lexer.tokens(of: Array(outer.utf8))
    let isMulticast = zip(tokens, tokens.dropFirst()).contains { previous, token in
      token.text == "Multicast" && ["@", ".", ":"].contains(previous.text)
    }
    if isMulticast { return [] }
    let location = request.attributeSyntax.location
    let source = Source(
      request.attributeSyntax.source, fileName: location?.fileName ?? "",
      offset: location?.offset ?? 0)
    let range = Lexer.tokens(of: source.bytes)[0].range
    return [
      .init(
        Finding(
          message: "'@Answer' belongs to a requirement of a protocol with '@Multicast'",
          range: range),
        in: source)
    ]
  }

  /// `nil` from a compiler that does not send it.
  private static func configuration(
    _ request: HostMessage.ExpandAttachedMacro
  ) -> BuildConfiguration? {
    request.staticBuildConfiguration.flatMap {
      try? JSONDecoder().decode(BuildConfiguration.self, from: Data($0.utf8))
    }
  }

  private struct BuildConfiguration: Decodable {
    var features: [String]?
    var customConditions: [String]?

    /// SwiftPM sets the first condition, and the second one in debug builds. Others set no
    /// condition by which a release build can be told.
    var isReleaseBuild: Bool {
      customConditions.map { $0.contains("SWIFT_PACKAGE") && !$0.contains("DEBUG") } ?? false
    }
  }
}
