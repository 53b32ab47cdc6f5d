/// Where the calls of a requirement run.
struct Delivery {
  /// Whether each delegate is called in its own context: on its queue, if it has one.
  private var isInContext = false
  private var isSetterInContext = false
  /// `invoke` where the delegates are known to be Sendable; `deliver` where a protocol that this one
  /// refines decides.
  private let function: String
  /// The attribute of the global actor that isolates the requirement.
  var globalActor: String?

  init(
    _ requirement: Requirement, _ forwarding: Forwarding, answer: AnswerAttribute?,
    plan: AnswerPlan,
    isAsync: Bool, errors: Requirement.Errors, context: GenerationContext
  ) throws(Finding) {
    let traits = context.traits
    function = traits.isSendable == .yes && traits.unknown.isEmpty ? "invoke" : "deliver"
    if case .globalActor(let attribute) = traits.isolation,
      requirement.modifier("nonisolated") == nil
    {
      globalActor = attribute
    }
    if let attribute = requirement.attributes.first(where: ProtocolTraits.isGlobalActor) {
      globalActor = attribute.text
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
    let mayDeliver = traits.isSendable != .no && globalActor == nil && answer?.policy != .inline
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
  func lines(_ forwarding: Forwarding, hub: String) -> [String]? {
    guard isInContext else { return nil }
    let count = forwarding.requirement.parameters.count
    if count == 0 { return ["\(hub).\(function) { \(forwarding.call(on: "$0")) }"] }
    let call = forwarding.call(on: "$0") { count == 1 ? "$1" : "$1.\($0)" }
    return passing((0..<count).map(forwarding.value), forwarding, hub: hub, call)
  }

  func setterLines(_ forwarding: Forwarding, hub: String) -> [String] {
    let count = forwarding.requirement.parameters.count
    guard isSetterInContext else {
      return ["\(hub).forEach { \(forwarding.call(on: "$0")) = newValue }"]
    }
    let target = forwarding.call(on: "$0") { "$1.\($0 + 1)" }
    let values = ["newValue"] + (0..<count).map(forwarding.value)
    return passing(values, forwarding, hub: hub, "\(target) = \(count == 0 ? "$1" : "$1.0")")
  }

  /// Passes the values to each call. A separate statement checks that they are Sendable, because the
  /// compiler then reports the message of the macro and nothing else.
  private func passing(
    _ values: [String], _ forwarding: Forwarding, hub: String, _ call: String
  ) -> [String] {
    let value = values.joined(separator: ", ")
    let arguments = values.count == 1 ? value : "(\(value))"
    let types =
      forwarding.requirement.parameters.map(\.type)
      + (forwarding.requirement.kind == .function ? [] : [forwarding.requirement.result!])
    if types.allSatisfy(\.isStandardSendable) {
      return ["\(hub).\(function)(with: \(arguments)) { \(call) }"]
    }
    let name = forwarding.local("arguments")
    return [
      "let \(name) = \(hub).arguments(\(arguments))",
      "\(hub).\(function)(with: \(name)) { \(call) }",
    ]
  }
}
