import Foundation

/// Answers the messages of the compiler.
struct MessageHandler {
  /// The version of the messages that the compiler knows. Before version 5 the answer had another
  /// name.
  private var hostVersion = 0

  init() {}

  mutating func response(to message: Data) -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    return (try? encoder.encode(answer(to: message))) ?? Data()
  }

  mutating func answer(to message: Data) -> PluginMessage {
    guard let host = try? JSONDecoder().decode(HostMessage.self, from: message) else {
      return expansion(
        nil, [.init(message: "the compiler's message could not be read", position: .none)])
    }
    if let capability = host.getCapability {
      hostVersion = capability.capability?.protocolVersion ?? 0
      return PluginMessage(getCapabilityResult: .init())
    }
    guard let request = host.expandAttachedMacro else {
      return expansion(
        nil, [.init(message: "'@Multicast' does not know this kind of macro", position: .none)])
    }
    let (source, diagnostics) = Expansion(request).result
    return expansion(source, diagnostics)
  }

  private func expansion(
    _ source: String?, _ diagnostics: [PluginMessage.Diagnostic]
  ) -> PluginMessage {
    if hostVersion >= 5 {
      return PluginMessage(
        expandMacroResult: .init(expandedSource: source, diagnostics: diagnostics))
    }
    return PluginMessage(
      expandAttachedMacroResult: .init(
        expandedSources: source.map { [$0] }, diagnostics: diagnostics))
  }
}

extension PluginMessage.Position {
  static var none: Self { Self(fileName: "", offset: 0) }
}

extension PluginMessage.Diagnostic {
  /// An error without a range.
  init(message: String, position: PluginMessage.Position) {
    self.init(message: message, position: position, highlights: [])
  }

  init(_ finding: Finding, in source: Source) {
    let start = source.offset + finding.range.lowerBound
    self.init(
      message: finding.message, severity: finding.isWarning ? "warning" : "error",
      position: .init(fileName: source.fileName, offset: start),
      highlights: finding.range.isEmpty
        ? []
        : [
          .init(
            fileName: source.fileName, startOffset: start,
            endOffset: source.offset + finding.range.upperBound)
        ])
  }
}
