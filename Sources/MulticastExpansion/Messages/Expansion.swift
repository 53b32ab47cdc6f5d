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
      let names = Names(hasModuleSelectors: Expansion.hasModuleSelectors(request))
      let expansion = Expansion.expand(
        source, names: names, extendedType: request.extendedTypeSyntax?.source,
        isAtFileScope: request.lexicalContext?.isEmpty ?? true,
        isExtension: request.macroRole == "extension")
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
    _ source: Source, names: Names, extendedType: String? = nil, isAtFileScope: Bool = true,
    isExtension: Bool = false
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
      isAtFileScope: isAtFileScope)
    var findings = Findings()
    var code = CodeWriter()
    RequirementCheck(declaration: declaration, traits: context.traits).checkProtocol(&findings)
    if isExtension {
      ExtensionWriter(context: context).write(to: &code, &findings)
    } else {
      CompositeWriter(context: context).write(to: &code, &findings)
    }
    if findings.isEmpty { return (code.text, []) }
    return (nil, isExtension ? [] : findings.all)
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

  private static func hasModuleSelectors(_ request: HostMessage.ExpandAttachedMacro) -> Bool {
    guard let text = request.staticBuildConfiguration,
      let configuration = try? JSONDecoder().decode(BuildConfiguration.self, from: Data(text.utf8))
    else { return false }
    return configuration.features?.contains("ModuleSelector") ?? false
  }

  private struct BuildConfiguration: Decodable {
    var features: [String]?
  }
}
