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
    let nestedNames = NestedNames(source, in: context)
    let requirement = nestedNames.renamed(source, at: site)
    let attributes = requirement.attributes.filter { $0.baseName == "Answer" }
    if attributes.count > 1 {
      throw Finding(message: "write one '@Answer' for a requirement", range: attributes[1].range)
    }
    var answer: AnswerAttribute?
    if let attribute = attributes.first {
      answer = try AnswerAttribute(attribute, in: context.source)
    }
    if answer?.policy == .notForwarded { return }
    try check.check(requirement)
    let expressions = answer?.names ?? ExpressionNames()
    let forwarding = Forwarding(requirement, expressions: expressions, in: context.declaration)
    try expressions.check(
      parameters: forwarding.parameterNames, members: context.memberNames)
    let getter = requirement.getter
    let isAsync = requirement.isAsync || getter?.isAsync == true
    let errors = getter.map(\.errors) ?? requirement.errors
    var plan = try AnswerPlan(
      result: source.result, attribute: answer, isAsync: isAsync, canThrow: errors != .none,
      hasSetter: requirement.setter != nil, range: requirement.nameRange)
    if plan.collectsErrors, errors == .rethrown {
      throw Finding(
        message: "a requirement that rethrows ends at the first error: remove 'errors:'",
        range: answer?.range ?? requirement.nameRange)
    }
    plan = nestedNames.renamed(plan, source, at: site)
    let members = answer == nil ? [] : nestedNames.members(of: plan, requirement)
    let delivery = try Delivery(
      requirement, forwarding, answer: answer, plan: plan, isAsync: isAsync, errors: errors,
      site: site, context: context)
    var body = BodyWriter(
      forwarding: forwarding, plan: plan, isAsync: isAsync, errors: errors,
      hub: hub(for: forwarding, isAsync: isAsync),
      result: requirement.result?.textOfVariable ?? "()",
      names: context.names,
      globalActor: delivery.globalActor
    ).lines()
    if let lines = delivery.lines(forwarding, hub: hub(for: forwarding)) { body = lines }

    body = (delivery.checks(forwarding, hub: hub(for: forwarding)) + body).map(named)
    code.line()
    if site == .composite {
      let aliases = nestedNames.aliases(of: source)
      for member in aliases.map({ "typealias \($0.name) = \($0.type)" }) + members {
        code.lines(availability(of: requirement))
        code.line(named(context.memberAccess + member))
      }
      writeComment(of: requirement, plan, to: &code)
    }
    code.lines(memberAttributes(of: requirement))
    switch requirement.kind {
    case .function:
      code.block(named(head(of: requirement, forwarding))) { $0.statements(body) }
    default:
      code.block(named(head(of: requirement, forwarding))) { code in
        guard requirement.setter != nil else {
          if isAsync || errors != .none {
            code.block("get" + effects(isAsync, errors)) { $0.statements(body) }
          } else {
            code.statements(body)
          }
          return
        }
        code.block("get" + effects(isAsync, errors)) { $0.statements(body) }
        code.block(forwarding.newValue == "newValue" ? "set" : "set(\(forwarding.newValue))") {
          $0.statements(delivery.setterLines(forwarding, hub: hub(for: forwarding)).map(named))
        }
      }
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
