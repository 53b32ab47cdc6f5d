/// What a composite cannot forward, and what to write instead.
struct RequirementCheck {
  let declaration: ProtocolDeclaration
  let traits: ProtocolTraits

  private static let leaveOut =
    "implement it in an extension of the protocol and write @Answer(.notForwarded) above it"

  /// Throws the reason why a requirement cannot be forwarded.
  func check(_ requirement: Requirement) throws(Finding) {
    try checkModifiers(requirement)
    if let name = requirement.genericNames.first(where: declaration.primaryAssociatedTypes.contains)
    {
      throw Finding(
        message: "'\(name)' is a generic parameter of the composite too: rename it here",
        range: requirement.nameRange)
    }
    switch requirement.kind {
    case .initializer:
      throw Finding(
        message: """
          an initializer cannot be forwarded to delegates that exist: move it to another protocol, or \
          \(Self.leaveOut)
          """, range: requirement.nameRange)
    case .function, .subscripting:
      for parameter in requirement.parameters { try check(parameter, of: requirement) }
      try checkSelf(requirement)
    case .variable:
      try checkSelf(requirement)
    case .associatedType, .typeAlias, .other:
      return
    }
    if let setter = requirement.setter { try check(setter: setter, of: requirement) }
    if let getter = requirement.getter, getter.modifiers.contains("mutating") {
      throw Finding(
        message: "a mutating getter would change a copy of each delegate: remove 'mutating'",
        range: getter.range)
    }
    if let accessor = requirement.accessors.first(where: { !["get", "set"].contains($0.kind) }) {
      throw Finding(
        message:
          "'\(accessor.kind)' cannot be forwarded to several delegates: write 'get' or 'get set'",
        range: accessor.range)
    }
  }

  private func checkModifiers(_ requirement: Requirement) throws(Finding) {
    if let modifier = requirement.modifier("static") ?? requirement.modifier("class") {
      let isOperator =
        requirement.name.first.map { !$0.isLetter && $0 != "_" && $0 != "`" } ?? false
      throw Finding(
        message: """
          \(isOperator ? "an operator" : "a static requirement") belongs to a type and cannot be forwarded to \
          delegates: move it to another protocol, or \(Self.leaveOut)
          """, range: modifier.range)
    }
    if let modifier = requirement.modifier("optional") {
      throw Finding(
        message: """
          an optional requirement cannot be forwarded: move it to another protocol and call that with \
          'delegates.forEach(as:)', or require it
          """, range: modifier.range)
    }
    if let modifier = requirement.modifier("distributed") {
      throw Finding(
        message: "a distributed requirement cannot be forwarded to several delegates",
        range: modifier.range)
    }
    if let modifier = requirement.modifier("mutating"), traits.isClassBound != .yes {
      throw Finding(
        message: """
          a mutating requirement would change a copy of each delegate: make the protocol AnyObject and \
          remove 'mutating'
          """, range: modifier.range)
    }
    if case .globalActor = traits.isolation, traits.isSendable == .no,
      let modifier = requirement.modifier("nonisolated")
    {
      throw Finding(
        message: """
          a nonisolated requirement of an isolated protocol reaches the delegates from any thread: make \
          the protocol Sendable
          """, range: modifier.range)
    }
    if case .globalActor = traits.isolation, traits.isSendable == .no,
      let attribute = requirement.attributes.first(where: { $0.baseName == "concurrent" })
    {
      throw Finding(
        message: """
          a concurrent requirement of an isolated protocol leaves the actor of the delegates: make the \
          protocol Sendable
          """, range: attribute.range)
    }
  }

  private func check(_ parameter: Parameter, of requirement: Requirement) throws(Finding) {
    if parameter.isVariadic, !parameter.type.isPack {
      throw Finding(
        message: """
          variadic arguments cannot be forwarded: take an array, and add the variadic form in an extension \
          of the protocol
          """, range: parameter.range)
    }
    if parameter.type.hasTupleOfPack {
      // The compiler (6.3) crashes in the closure that forwards it.
      throw Finding(
        message: """
          a tuple of a pack cannot be forwarded: make the pack a parameter, without a tuple
          """, range: parameter.range)
    }
    let isNoncopyable = requirement.noncopyableNames.contains(where: parameter.type.names.contains)
    if isNoncopyable, parameter.type.has("consuming") {
      throw Finding(
        message: "one value cannot be consumed by several delegates: write 'borrowing'",
        range: parameter.type.range)
    }
  }

  /// `Self` is another type in each delegate.
  private func checkSelf(_ requirement: Requirement) throws(Finding) {
    let types = requirement.parameters.map(\.type) + (requirement.result.map { [$0] } ?? [])
    for type in types {
      let tokens = Lexer.tokens(of: Array(type.text.utf8)).map(\.text)
      let isOtherInEach = tokens.indices.contains { place in
        guard tokens[place] == "Self" else { return false }
        // `Self.Item` is the same type in all.
        return tokens[place + 1] != "." || ["Type", "Protocol"].contains(tokens[place + 2])
      }
      guard isOtherInEach else { continue }
      throw Finding(
        message: "'Self' is another type in each delegate: write 'any \(declaration.name)'",
        range: type.range)
    }
  }

  private func check(setter: Accessor, of requirement: Requirement) throws(Finding) {
    guard traits.isClassBound == .no, !setter.modifiers.contains("nonmutating") else { return }
    throw Finding(
      message: """
        setting it would change a copy of each delegate: make the protocol AnyObject, or write \
        'nonmutating set'
        """, range: setter.range)
  }
}

// MARK: - The protocol

extension RequirementCheck {
  /// Protocols of the standard library that describe values.
  private static let valueProtocols: Set<String> = [
    "Codable", "Encodable", "Decodable", "Comparable", "Strideable", "RawRepresentable",
    "CaseIterable", "Sequence", "Collection", "BidirectionalCollection",
    "RandomAccessCollection", "RangeReplaceableCollection", "MutableCollection",
    "IteratorProtocol", "AsyncSequence", "AsyncIteratorProtocol", "LosslessStringConvertible",
    "AdditiveArithmetic", "Numeric", "OptionSet", "SetAlgebra", "BitwiseCopyable",
  ]

  /// Reports the reasons why there can be no composite of the protocol.
  func checkProtocol(_ findings: inout Findings) {
    for type in declaration.inherited where type.text.hasPrefix("~") {
      findings.report(
        "a hub holds delegates that can be copied and escape: remove '\(type.text)'", at: type.range
      )
    }
    for type in declaration.inherited {
      guard let name = type.standardName, Self.valueProtocols.contains(name) else { continue }
      findings.report(
        "several delegates have no common value: a composite cannot be '\(name)', so remove it",
        at: type.range)
    }
    for type in declaration.inherited where type.baseNames.contains("DistributedActor") {
      findings.report(
        """
        a composite is no distributed actor: remove '\(type.text)'; a distributed actor can implement \
        requirements that are 'async throws'
        """, at: type.range)
    }
    for attribute in declaration.attributes where attribute.baseName == "objc" {
      findings.report(
        "the requirements of an '@objc' protocol are not forwarded: remove '@objc'",
        at: attribute.range)
    }
    for requirement in declaration.requirements where requirement.kind == .associatedType {
      guard !declaration.primaryAssociatedTypes.contains(requirement.name) else { continue }
      findings.report(
        """
        an associated type must be the same for all delegates: make it primary, 'protocol \
        \(declaration.name)<\((declaration.primaryAssociatedTypes + [requirement.name]).joined(separator: ", "))>'
        """, at: requirement.nameRange)
    }
    let ofTypes = declaration.requirements.filter { $0.kind == .associatedType }
    for constraint in declaration.constraints + ofTypes.flatMap(\.constraints)
    where fixesParameter(constraint) {
      findings.report(
        "a primary associated type that is fixed cannot be a parameter of the composite: use the type itself",
        at: constraint.left.range.lowerBound..<constraint.right.range.upperBound)
    }
  }

  /// Whether a constraint leaves no choice for a primary associated type. One that is a member of
  /// another one, as in `S.Element == Item`, may be a parameter beside it.
  private func fixesParameter(_ constraint: Constraint) -> Bool {
    let parameters = declaration.primaryAssociatedTypes
    let names = [constraint.left.text.unqualified, constraint.right.text.unqualified]
    guard constraint.relation == "==", names.contains(where: parameters.contains) else {
      return false
    }
    return !names.contains { name in parameters.contains { name.hasPrefix("\($0).") } }
  }
}

extension ProtocolDeclaration {
  /// The primary associated types whose values can be copied.
  var copyableAssociatedTypes: [String] {
    let constraints =
      constraints + requirements.filter { $0.kind == .associatedType }.flatMap(\.constraints)
    let others = constraints.filter { $0.right.isNoncopyable }.map(\.left.text.unqualified)
    return primaryAssociatedTypes.filter { !others.contains($0) }
  }

  /// All requirements, also those under conditions.
  var requirements: [Requirement] { ProtocolDeclaration.requirements(members) }

  private static func requirements(_ members: [Member]) -> [Requirement] {
    members.flatMap { member in
      switch member {
      case .requirement(let requirement): [requirement]
      case .conditional(let clauses): clauses.flatMap { requirements($0.members) }
      }
    }
  }
}
