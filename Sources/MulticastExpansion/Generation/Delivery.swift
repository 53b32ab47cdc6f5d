/// Where the calls of a requirement run.
struct Delivery {
  private let forwarding: Forwarding
  /// The delegates, as an expression.
  private let hub: String
  /// Whether each delegate is called in its own context: on its queue, if it has one.
  private var isInContext = false
  private var isSetterInContext = false
  /// Whether each delegate is called on the actor that it is.
  private var isOnEach = false
  /// Whether the composite awaits delegates that are other actors, so that the arguments are
  /// checked.
  private var checksArguments = false
  /// `invoke` where the delegates are known to be Sendable; `deliver` where a protocol that this
  /// one refines decides.
  private let function: String
  /// Whether the composites of refining protocols inherit the call, which decide whether the
  /// delegates are Sendable.
  private let isInherited: Bool
  private let names: Names
  /// The delegates' type, as a body names it.
  private let delegateType: String
  /// The attribute of the global actor that isolates the requirement.
  private(set) var globalActor: String?

  init(
    _ forwarding: Forwarding, hub: String, _ answer: AnswerAttribute?, _ plan: AnswerPlan,
    site: RequirementWriter.Site, context: GenerationContext
  ) throws(Finding) {
    self.forwarding = forwarding
    self.hub = hub
    let requirement = forwarding.requirement
    let isAsync = requirement.callIsAsync
    let errors = requirement.callErrors
    let traits = context.traits
    names = context.names
    delegateType =
      site == .composite ? context.delegateType : context.delegateTypeInExtension
    function = traits.isSendable == .yes && traits.unknown.isEmpty ? "invoke" : "deliver"
    isInherited = site == .refinement && traits.isSendable != .yes
    if case .globalActor(let attribute) = traits.isolation,
      requirement.modifier("nonisolated") == nil
    {
      globalActor = attribute
    }
    if let attribute = requirement.attributes.first(where: ProtocolTraits.isGlobalActor) {
      globalActor = attribute.text
    }
    if traits.isolation == .actor, requirement.modifier("nonisolated") == nil {
      let isCall = requirement.kind == .function && plan.combination == .none && errors == .none
      guard isAsync || isCall, requirement.setter == nil else {
        throw Finding(
          message: """
            each delegate is an actor of its own, so its answer must be awaited: make the requirement \
            async
            """, range: requirement.nameRange)
      }
      if !isAsync, forwarding.hasArgumentOfTheCall {
        throw Finding(
          message: """
            an argument that lives only as long as the call cannot be passed to other actors: make the \
            requirement async
            """, range: requirement.nameRange)
      }
      isOnEach = !isAsync
      checksArguments = isAsync && !plan.isConcurrent
      if isOnEach { return }
    }
    if plan.isConcurrent {
      if traits.isSendable == .no {
        throw Finding(
          message: "concurrent calls leave the thread: make the protocol Sendable",
          range: answer?.range ?? requirement.nameRange)
      }
      if forwarding.hasArgumentOfTheCall {
        throw Finding(
          message:
            "an argument that lives only as long as the call cannot be used by concurrent calls",
          range: answer?.range ?? requirement.nameRange)
      }
    }
    // On a global actor the composite and its delegates share the actor: the calls are inline.
    let mayDeliver =
      (traits.isSendable != .no || isInherited) && globalActor == nil && answer?.policy != .inline
    isSetterInContext = mayDeliver && !forwarding.hasArgumentOfTheCall
    isInContext =
      isSetterInContext && requirement.kind == .function && plan.combination == .none && !isAsync
      && errors == .none
    if isInContext, traits.isSendable == .yes, let parameter = forwarding.unsendableClosure {
      throw Finding(
        message: """
          this closure cannot be delivered on a delegate's queue: write '@Sendable', or \
          @Answer(.inline) above the requirement
          """, range: parameter.type.range)
    }
  }

  /// The delivery of a call, or `nil` if it is called on the calling thread.
  func lines() -> [String]? {
    guard isInContext || isOnEach else { return nil }
    if isInherited {
      return inheriting { forwarding.call(on: $0) }
    }
    if isOnEach { return onEach() }
    let count = forwarding.requirement.parameters.count
    if count == 0, function == "invoke" {
      return ["\(hub).\(function) { \(forwarding.call(on: "$0")) }"]
    }
    let call =
      count == 0
      ? "delegate, _ in \(forwarding.call(on: "delegate"))"
      : forwarding.call(on: "$0") { count == 1 ? "$1" : "$1.\($0)" }
    return passing((0..<count).map(forwarding.value), call)
  }

  /// The call on the actor that each delegate is.
  ///
  /// It is in a closure that awaits nothing: where a call may be awaited, the compiler prefers an
  /// `async` overload.
  private func onEach() -> [String] {
    let count = forwarding.requirement.parameters.count
    let call = forwarding.call(on: "delegate") { count == 1 ? "arguments" : "arguments.\($0)" }
    let closure = "{ (delegate: isolated \(delegateType)) -> () in \(call) }"
    if count == 0 {
      return ["\(hub).invoke(onEach: { $0 }) { delegate in await \(closure)(delegate) }"]
    }
    let name = forwarding.local("arguments")
    let invocation = "\(hub).invoke(with: \(name), onEach: { $0 })"
    return [
      "let \(name) = \(hub).arguments(\(tuple((0..<count).map(forwarding.value))))",
      "\(invocation) { delegate, arguments in await \(closure)(delegate) }",
    ]
  }

  private func tuple(_ values: [String]) -> String {
    values.count == 1 ? values[0] : "(\(values.joined(separator: ", ")))"
  }

  /// Statements that check arguments which calls that suspend pass to other actors. They shadow the
  /// parameters.
  func checks() -> [String] {
    guard checksArguments else { return [] }
    return forwarding.requirement.parameters.indices.flatMap { index -> [String] in
      let type = forwarding.requirement.parameters[index].type
      guard !type.isStandardSendable, type.specifiers.isEmpty || type.has("@escaping") else {
        return []
      }
      let value = forwarding.value(index)
      let name = forwarding.local("arguments\(index + 1)")
      return [
        "let \(name) = \(hub).arguments(\(value))", "let \(value) = \(hub).sending(\(name))",
      ]
    }
  }

  func setterLines() -> [String] {
    let count = forwarding.requirement.parameters.count
    guard isSetterInContext else {
      return ["\(hub).callEach { \(forwarding.call(on: "$0")) = \(forwarding.newValue) }"]
    }
    if isInherited {
      return inheriting {
        "\(forwarding.call(on: $0)) = \(forwarding.newValue)"
      }
    }
    let target = forwarding.call(on: "$0") { "$1.\($0 + 1)" }
    let values = [forwarding.newValue] + (0..<count).map(forwarding.value)
    return passing(values, "\(target) = \(count == 0 ? "$1" : "$1.0")")
  }

  /// The call with the values. A separate statement checks that they are Sendable, because the
  /// compiler then reports the message of the macro and nothing else.
  ///
  /// `invoke`, which is inlined, gets a closure that captures the values. A release build of Swift
  /// 6.3 crashes where it inlines a closure that takes a tuple with a value of a generic type.
  private func passing(_ values: [String], _ call: String) -> [String] {
    let name = forwarding.local("arguments")
    guard function == "invoke" else {
      return [
        "let \(name) = \(hub).arguments(\(tuple(values)))",
        "\(hub).\(function)(with: \(name)) { \(call) }",
      ]
    }
    let suffix = forwarding.requirement.kind == .function ? "" : " = \(forwarding.newValue)"
    let capturing = forwarding.call(on: "$0") + suffix
    if typesOfValues.allSatisfy(\.isStandardSendable) {
      return ["\(hub).\(function) { \(capturing) }"]
    }
    let list = captures
    return [
      "let \(name) = \(hub).arguments(\(tuple(values)))",
      "\(hub).\(function)(capturing: \(name)) { \(list)\(list.isEmpty ? "" : "in ")\(capturing) }",
    ]
  }

  /// A list of the arguments that are sent: otherwise the compiler takes such a parameter for a
  /// variable.
  private var captures: String {
    let parameters = forwarding.requirement.parameters
    let sent = parameters.indices.filter { parameters[$0].type.has("sending") }
    if sent.isEmpty { return "" }
    return "[\(sent.map(forwarding.value).joined(separator: ", "))] "
  }

  /// The types of the arguments, and at last that of a value which is set.
  private var typesOfValues: [TypeSyntax] {
    forwarding.requirement.parameters.map(\.type)
      + (forwarding.requirement.kind == .function ? [] : [forwarding.requirement.result!])
  }

  /// The call where composites inherit it. The closure captures the arguments, and the compiler
  /// chooses by their types whether it may leave the thread.
  private func inheriting(_ call: (_ delegate: String) -> String) -> [String] {
    let parameters = forwarding.requirement.parameters
    let values = parameters.indices.map(forwarding.value)
    let types = zip(typesOfValues, values + [forwarding.newValue]).map { type, value in
      type.textOfType(besides: forwarding.parameterNames)
        ?? "\(names.macros("staticType"))(of: \(value))"
    }
    let arguments =
      names.macros("capturedArguments") + "()" + types.map { ".and(\($0))" }.joined()
    let delegates = forwarding.local("delegates")
    let captured = forwarding.local("arguments")
    let delegate = forwarding.local("delegate")
    return [
      "let \(delegates) = \(hub)",
      "guard \(delegates).areSendable else { return \(delegates).callEach { \(call("$0")) } }",
      "let \(captured) = \(arguments)",
      "\(delegates).deliver(with: \(captured)) { \(captures)\(delegate), _ in \(call(delegate)) }",
    ]
  }
}
