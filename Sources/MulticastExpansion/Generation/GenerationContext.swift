/// What all parts of an expansion know of its protocol.
struct GenerationContext {
  let source: Source
  let declaration: ProtocolDeclaration
  let traits: ProtocolTraits
  let names: Names
  /// The protocol as an extension names it: with the types around it.
  let extendedType: String
  let enclosingTypes: EnclosingTypes

  init(
    source: Source, declaration: ProtocolDeclaration, names: Names, extendedType: String? = nil,
    enclosingTypes: EnclosingTypes = EnclosingTypes()
  ) {
    self.enclosingTypes = enclosingTypes
    self.source = source
    self.declaration = declaration
    self.names = names
    self.extendedType = extendedType ?? declaration.name
    traits = ProtocolTraits(declaration)
  }

  /// `public `, or nothing for the access that needs no word.
  var memberAccess: String { accessElsewhere.map { $0 + " " } ?? "" }

  /// `public` or `package`, as far as the types around the protocol allow it; `nil`: other modules
  /// do not see it.
  var accessElsewhere: String? {
    let access = declaration.access ?? enclosingTypes.defaultAccess
    let levels =
      access == "public" ? ["public", "package"] : access == "package" ? ["package"] : []
    return levels.first { enclosingTypes.allow($0) }
  }

  /// As ``memberAccess``, for the type itself.
  var typeAccess: String { declaration.access.map { $0 + " " } ?? "" }

  /// The name without backticks.
  var plainName: String { declaration.name.filter { $0 != "`" } }

  /// `MulticastP`, in backticks where the name of the protocol is a raw identifier.
  var compositeName: String { quoted("Multicast" + plainName) }

  /// A name, in backticks if it is a raw identifier.
  func quoted(_ name: String) -> String {
    let needsQuotes = name.unicodeScalars.contains {
      !($0 == "_" || $0.properties.isXIDContinue || $0.value > 127)
    }
    return needsQuotes ? "`\(name)`" : name
  }

  /// `<Item, Key>`, or nothing.
  var primaryArguments: String {
    let names = declaration.primaryAssociatedTypes
    return names.isEmpty ? "" : "<\(names.joined(separator: ", "))>"
  }

  /// `<Item, Key: Hashable>`, or nothing: the parameters of the composite.
  var genericParameters: String {
    let associated = declaration.requirements.filter { $0.kind == .associatedType }
    let parameters = declaration.primaryAssociatedTypes.map { name in
      let bounds =
        associated.first { $0.name == name }?.constraints
        .filter { $0.left.text == name && $0.relation == ":" }.map(\.right.text) ?? []
      return bounds.isEmpty ? name : "\(name): \(bounds.joined(separator: " & "))"
    }
    return parameters.isEmpty ? "" : "<\(parameters.joined(separator: ", "))>"
  }

  /// ` where Item: Sendable`, or nothing.
  var genericConstraints: String {
    let associated = declaration.requirements.filter { $0.kind == .associatedType }
    let constraints =
      associated.flatMap { type in
        type.constraints.filter { $0.left.text != type.name }
      }
      + declaration.constraints.filter { constraint in
        // Others are about the protocol itself, or an inherited type, which is no parameter.
        constraint.left.names.first { $0 != "Self" }
          .map(declaration.primaryAssociatedTypes.contains) ?? false
      }
    let texts = constraints.map(\.text.unqualified)
    return texts.isEmpty ? "" : " where " + texts.joined(separator: ", ")
  }

  /// `any P<Item>`.
  var delegateType: String { "any \(protocolName)\(primaryArguments)" }

  /// The same in an extension of the protocol.
  var delegateTypeInExtension: String {
    plainName == "Delegate" && enclosingTypes.isEmpty
      ? delegateType : "any \(extendedType)\(primaryArguments)"
  }

  /// The name of the protocol, where `Delegate` may be the associated type of a composite.
  var protocolName: String {
    plainName == "Delegate" ? DelegateAlias.name(for: self) : declaration.name
  }

  /// Whether what is generated is declared `nonisolated`, as the protocol is. Never that of a
  /// protocol of actors: an actor cannot be, and an extension of actors would lose its isolation.
  var isNonisolated: Bool {
    traits.isolation != .actor && declaration.modifiers.contains { $0.name == "nonisolated" }
  }

  /// The attributes of the protocol that its composite shares.
  var typeAttributes: [String] {
    declaration.attributes
      .filter { ["available", "_spi"].contains($0.baseName) }
      .map { source.text($0.range) }
  }

  /// The names of the members of the composite, as far as the declaration tells.
  var memberNames: Set<String> {
    Set(declaration.requirements.map { $0.name.filter { $0 != "`" } }).union([
      "self", "add", "remove", "removeAll", "contains", "count", "isEmpty", "invoke",
      "refinedDelegates", hubName, "_composition",
    ])
  }

  /// The name of the property with the hub: `delegates`, unless a requirement is called so.
  var hubName: String {
    unique("delegates", among: Set(declaration.requirements.map(\.name)))
  }
}
