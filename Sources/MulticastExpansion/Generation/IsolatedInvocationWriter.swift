/// Writes how to call the delegates of an isolated protocol from anywhere.
///
/// A macro must not write an extension of another type than the one that it is attached to. So the
/// composite gets an `invoke`, and a hub an operator.
struct IsolatedInvocationWriter {
  let context: GenerationContext

  /// `invoke { $0.show() }`, in the composite.
  func writeMember(to code: inout CodeWriter) {
    guard let closure else { return }
    code.line()
    code.line("/// Calls `body` with each delegate on the actor of the delegates, from any thread.")
    code.line("///")
    code.line("/// - Returns: the number of delegates for which the call was enqueued.")
    code.line("@discardableResult")
    let head =
      "\(context.memberAccess)nonisolated func invoke(_ body: @escaping \(closure)) -> \(context.names.standard("Int"))"
    code.block(head) { $0.statement(body(hub: context.hubName, composition: "_composition")) }
  }

  /// `hub ~> { $0.show() }`, for a protocol that is not nested: an operator belongs to a file or to
  /// the type of an argument. It belongs to the actor of the delegates, unless they are known to be
  /// Sendable: then the compiler binds the delegates to that actor.
  func writeOperator(to code: inout CodeWriter) {
    guard let closure, context.enclosingTypes.isEmpty,
      context.declaration.primaryAssociatedTypes.isEmpty
    else {
      return
    }
    code.line()
    code.line(
      "/// Calls `body` with each delegate of `hub` on the actor of the delegates, from any thread."
    )
    code.lines(context.typeAttributes)
    code.line("@discardableResult")
    // Before the access: the compiler accepts no attribute after a modifier.
    if let attribute = attributeOfOperator { code.line(attribute) }
    let modifiers = context.typeAccess + (attributeOfOperator == nil ? "nonisolated " : "")
    let hub = "\(context.names.library("MulticastDelegate"))<\(context.delegateType)>"
    let head =
      "\(modifiers)func ~> (hub: \(hub), body: @escaping \(closure)) -> \(context.names.standard("Int"))"
    code.block(head) { $0.statement(body(hub: "hub", composition: "hub")) }
  }

  /// The type of a closure that belongs to the actor of a delegate.
  private var closure: String? {
    let delegate = context.delegateType
    switch context.traits.isolation {
    case .none: return nil
    case .globalActor(let attribute): return "\(attribute) @Sendable (\(delegate)) -> ()"
    case .actor: return "@Sendable (isolated \(delegate)) -> ()"
    }
  }

  /// That of the global actor to which the operator belongs; `nil`: it belongs to none.
  private var attributeOfOperator: String? {
    switch context.traits.isolation {
    case .globalActor(let attribute) where context.traits.isSendable != .yes: attribute
    default: nil
    }
  }

  /// The call through `hub` if each delegate is an actor, and otherwise through `composition`,
  /// which has the global actor of all delegates.
  private func body(hub: String, composition: String) -> String {
    context.traits.isolation == .actor
      ? "\(hub).invoke(onEach: { $0 }) { await body($0) }"
      : "\(composition).invokeOnActor(body)"
  }
}
