/// Writes the members that forward the requirements of a protocol.
struct RequirementWriter {
  /// Where the members are declared.
  enum Site {
    /// In the composite of the protocol.
    case composite
    /// In an extension of the protocol, for the composites of protocols that refine it.
    case refinement
  }

  let context: GenerationContext
  let site: Site

  private var check: RequirementCheck {
    RequirementCheck(declaration: context.declaration, traits: context.traits)
  }

  /// Writes all members, with the conditions around them.
  func write(_ members: [Member], to code: inout CodeWriter, _ findings: inout Findings) {
    for member in members {
      switch member {
      case .requirement(let requirement):
        do throws(Finding) {
          try write(requirement, to: &code)
        } catch {
          findings.report(error.message, at: error.range)
        }
      case .conditional(let clauses):
        code.line()
        for clause in clauses {
          code.line(clause.directive)
          write(clause.members, to: &code, &findings)
        }
        code.line("#endif")
      }
    }
  }

  private func write(_ source: Requirement, to code: inout CodeWriter) throws(Finding) {
    guard ![.associatedType, .typeAlias, .other].contains(source.kind) else { return }
    let answer = try answer(of: source)
    if answer?.policy == .notForwarded { return }
    let nestedNames = NestedNames(source, in: context)
    let requirement = nestedNames.renamed(source, at: site)
    try check.check(requirement)
    let expressions = answer?.names ?? ExpressionNames()
    let forwarding = Forwarding(requirement, expressions: expressions, in: context.declaration)
    try expressions.check(
      parameters: forwarding.parameterNames, members: context.memberNames)
    let plan = nestedNames.renamed(try AnswerPlan(for: source, answer), source, at: site)
    let delivery = try Delivery(
      forwarding, hub: hub(for: forwarding), answer, plan, site: site, context: context)
    code.line()
    if site == .composite {
      let ofExpressions = answer == nil ? [] : nestedNames.members(of: plan, requirement)
      for member in nestedNames.aliases(of: source) + ofExpressions {
        code.lines(availability(of: requirement))
        code.line(named(context.memberAccess + member))
      }
      writeComment(of: requirement, plan, to: &code)
    }
    code.lines(memberAttributes(of: requirement))
    let body = body(forwarding, plan, delivery)
    code.block(named(head(of: requirement, forwarding))) { code in
      if requirement.kind == .function {
        code.statements(body)
      } else {
        writeAccessors(forwarding, body, delivery, to: &code)
      }
    }
  }

  private func answer(of requirement: Requirement) throws(Finding) -> AnswerAttribute? {
    let attributes = requirement.attributes.filter { $0.baseName == "Answer" }
    if attributes.count > 1 {
      throw Finding(message: "write one '@Answer' for a requirement", range: attributes[1].range)
    }
    guard let attribute = attributes.first else { return nil }
    return try AnswerAttribute(attribute, in: context.source)
  }

  /// The statements of a function or a getter.
  private func body(
    _ forwarding: Forwarding, _ plan: AnswerPlan, _ delivery: Delivery
  ) -> [String] {
    let requirement = forwarding.requirement
    let onThisThread = BodyWriter(
      forwarding: forwarding, plan: plan,
      hub: hub(for: forwarding, isAsync: requirement.callIsAsync),
      result: requirement.result?.textOfVariable ?? "()", names: context.names,
      globalActor: delivery.globalActor)
    return (delivery.checks() + (delivery.lines() ?? onThisThread.lines())).map(named)
  }

  /// - Parameter getter: the statements of the getter.
  private func writeAccessors(
    _ forwarding: Forwarding, _ getter: [String], _ delivery: Delivery, to code: inout CodeWriter
  ) {
    let requirement = forwarding.requirement
    let effects = effects(requirement.callIsAsync, requirement.callErrors)
    if effects.isEmpty, requirement.setter == nil { return code.statements(getter) }
    code.block("get" + effects) { $0.statements(getter) }
    guard requirement.setter != nil else { return }
    let newValue = forwarding.newValue
    code.block(newValue == "newValue" ? "set" : "set(\(newValue))") {
      $0.statements(delivery.setterLines().map(named))
    }
  }

  /// Text for the place of the requirement: in an extension of the protocol, `Self.Item` has a
  /// meaning.
  private func named(_ text: String) -> String { site == .composite ? text.unqualified : text }

  /// The delegates, as an expression.
  private func hub(for forwarding: Forwarding, isAsync: Bool = false) -> String {
    let name = site == .composite ? context.hubName : "refinedDelegates"
    let member = forwarding.parameterNames.contains(name) ? "self.\(name)" : name
    if site == .composite { return member }
    let isolation = isAsync ? ", isolation: #isolation" : ""
    return "\(member)(as: (\(context.delegateTypeInExtension)).self\(isolation))"
  }
}

// MARK: - Declarations

extension RequirementWriter {
  private func writeComment(
    of requirement: Requirement, _ plan: AnswerPlan, to code: inout CodeWriter
  ) {
    if !requirement.documentation.isEmpty {
      code.lines(requirement.documentation)
      code.line("///")
    }
    code.line("/// " + plan.summary)
  }

  private func memberAttributes(of requirement: Requirement) -> [String] {
    let kept: Set<String> = [
      "available", "discardableResult", "concurrent", "Sendable", "unsafe", "safe", "_spi",
    ]
    return requirement.attributes
      .filter { kept.contains($0.baseName) || ProtocolTraits.isGlobalActor($0) }
      .map { context.source.text($0.range) }
  }

  private func availability(of requirement: Requirement) -> [String] {
    requirement.attributes.filter { $0.baseName == "available" }.map {
      context.source.text($0.range)
    }
  }

  private func head(of requirement: Requirement, _ forwarding: Forwarding) -> String {
    var head = context.memberAccess
    for modifier in requirement.modifiers where modifier.name == "nonisolated" {
      head += modifier.text + " "
    }
    let constraints = requirement.constraints.map(\.text).joined(separator: ", ")
    let clause = constraints.isEmpty ? "" : " where " + constraints
    switch requirement.kind {
    case .variable:
      return head + "var \(requirement.name): \(requirement.result?.text ?? "")"
    case .subscripting:
      return head + "subscript\(requirement.genericParameters)\(forwarding.parameterList)"
        + " -> \(requirement.result?.text ?? "")\(clause)"
    default:
      let result = requirement.result.map { " -> \($0.text)" } ?? ""
      return head
        + "func \(requirement.name)\(requirement.genericParameters)\(forwarding.parameterList)"
        + effects(requirement.isAsync, requirement.errors) + result + clause
    }
  }

  private func effects(_ isAsync: Bool, _ errors: Requirement.Errors) -> String {
    let text = isAsync ? " async" : ""
    switch errors {
    case .none: return text
    case .any: return text + " throws"
    case .rethrown: return text + " rethrows"
    case .typed(let type): return text + " throws(\(type))"
    }
  }
}
