/// Writes how to add a delegate to a composite.
///
/// An extension in the library cannot have the isolation of the composite. What is written here has
/// it, so the compiler refuses other callers, and binds the delegates to the actor of the
/// composite. It is written if the declaration tells that the delegates are not Sendable; otherwise
/// the library's members are used.
struct RegistrationWriter {
  let context: GenerationContext

  /// `add(delegate)`, in the composite.
  func writeMember(to code: inout CodeWriter) {
    guard context.traits.isSendable == .no else { return }
    let names = context.names
    let delegate = context.delegateType
    let parameters =
      "_ delegate: \(delegate), ownership: \(names.library("Ownership")) = .weak, "
      + "label: \(names.standard("String"))? = nil, "
      + "fileID: \(names.standard("StaticString")) = #fileID, line: \(names.standard("UInt")) = #line"
    code.line()
    code.line("/// Adds `delegate` after the others, as ``Multicast/MulticastDelegate`` does.")
    code.line("///")
    code.line("/// - Returns: a handle that can end the registration.")
    code.line("@discardableResult")
    let result = "\(names.library("Registration"))<\(delegate)>"
    code.block("\(context.memberAccess)func add(\(parameters)) -> \(result)") { code in
      code.line(
        "\(context.hubName).add(delegate, ownership: ownership, label: label, fileID: fileID, line: line)"
      )
    }
  }

  /// `composite += delegate`, for a protocol that is not nested: the compiler does not find an
  /// operator in the type that a macro writes.
  func writeOperator(to code: inout CodeWriter) {
    guard context.traits.isSendable == .no, context.enclosingTypes.isEmpty else { return }
    let composite = context.compositeName + context.primaryArguments
    let parameters = "composite: \(composite), delegate: \(context.delegateType)"
    code.line()
    code.line("/// Adds `delegate` weakly.")
    code.lines(context.typeAttributes)
    if case .globalActor(let attribute) = context.traits.isolation { code.line(attribute) }
    let head =
      "\(context.typeAccess)\(context.isNonisolated ? "nonisolated " : "")func +=\(context.genericParameters)"
      + "(\(parameters))\(context.genericConstraints)"
    // Not the line of the macro.
    code.block(head) {
      $0.line("composite.\(context.hubName).add(delegate, fileID: \"\", line: 0)")
    }
  }
}
