/// Writes the composite: the type that conforms to the protocol and forwards to many delegates.
struct CompositeWriter {
  let context: GenerationContext

  func write(to code: inout CodeWriter, _ findings: inout Findings) {
    let declaration = context.declaration
    let delegate = context.delegateType
    let hub = context.names.library("MulticastDelegate")
    code.line("/// A `\(context.plainName)` that forwards to many, in registration order.")
    code.line("///")
    code.line(
      "/// It holds its delegates as ``Multicast/MulticastDelegate`` does. Composites nest.")
    code.lines(context.typeAttributes)
    if case .globalActor(let attribute) = context.traits.isolation { code.line(attribute) }
    code.block(head) { code in
      code.line("/// The delegates, in registration order.")
      code.line(
        "\(context.memberAccess)\(isolationOfHub)let \(context.hubName): \(hub)<\(delegate)>")
      code.line("/// The same, for requirements of protocols that `\(context.plainName)` refines.")
      code.line(
        "\(context.memberAccess)nonisolated let _composition: "
          + "\(context.names.macros("Composition"))<\(delegate)>")
      code.line()
      writeInitializers(delegate, to: &code)
      RegistrationWriter(context: context).writeMember(to: &code)
      let requirements = RequirementWriter(context: context, site: .composite)
      requirements.write(declaration.members, to: &code, &findings)
      writeStandardRequirements(to: &code)
      writeConversion(delegate, to: &code)
      IsolatedInvocationWriter(context: context).writeMember(to: &code)
    }
    RegistrationWriter(context: context).writeOperator(to: &code)
    IsolatedInvocationWriter(context: context).writeOperator(to: &code)
    DelegateAlias(context: context).write(to: &code)
  }

  private var head: String {
    let declaration = context.declaration
    let isActor = context.traits.isolation == .actor
    var conformances = [declaration.name, context.names.macros("MulticastComposite")]
    if context.traits.inherited.contains("NSObjectProtocol") {
      conformances.insert("NSObject", at: 0)
    }
    conformances += nonisolatedConformances.map { "nonisolated \(context.names.standard($0))" }
    return context.typeAccess + (context.isNonisolated ? "nonisolated " : "")
      + (isActor ? "actor " : "final class ")
      + context.compositeName + context.genericParameters
      + ": " + conformances.joined(separator: ", ") + context.genericConstraints
  }

  /// The protocols of the standard library whose requirements the composite fulfils on any thread.
  ///
  /// Without these the compiler may infer that the conformance to one of them belongs to the actor
  /// of the composite, and refuse the one to its protocol, which refines them.
  private var nonisolatedConformances: [String] {
    let inherited = context.traits.inherited
    let isObject = inherited.contains("NSObjectProtocol")
    guard context.traits.isolation != .actor, !isObject else { return [] }
    var names = ["Equatable", "Hashable"]
    if context.traits.isolation != .none {
      names += CompositeWriter.descriptions.filter { !isDeclared($0.property) }.map(\.conformance)
    }
    return names.filter(inherited.contains)
  }

  private static let descriptions = [
    (conformance: "CustomStringConvertible", property: "description"),
    (conformance: "CustomDebugStringConvertible", property: "debugDescription"),
  ]

  private func isDeclared(_ member: String) -> Bool {
    context.declaration.requirements.contains { $0.name == member }
  }

  /// A hub that any thread may use needs no actor.
  private var isolationOfHub: String {
    context.traits.isolation != .none && context.traits.isSendable == .yes ? "nonisolated " : ""
  }

  private var opaqueDelegate: String {
    "some \(context.protocolName)\(context.primaryArguments)"
  }

  // MARK: Members of its own

  private func writeInitializers(_ delegate: String, to code: inout CodeWriter) {
    let names = context.names
    let options =
      "storage: \(names.library("StorageStrategy")) = .waitFree, "
      + "duplicates: \(names.library("DuplicatePolicy")) = .ignore"
    code.line("/// Creates a composite without delegates.")
    code.block("\(context.memberAccess)init(\(options))") { code in
      code.line("\(context.hubName) = .init(storage: storage, duplicates: duplicates)")
      // Not the actor that is being created: it would own itself.
      let isolation = context.traits.isolation == .actor ? ", isolation: nil" : ""
      code.line("_composition = .init(\(context.hubName)\(isolation))")
    }
    let initializer = context.traits.isolation == .actor ? "init" : "convenience init"
    // Of an array too: of a literal whose delegates have different types the compiler does not find
    // the type of the elements if it may be any sequence.
    for type in [
      "\(names.standard("Array"))<\(delegate)>", "some \(names.standard("Sequence"))<\(delegate)>",
    ] {
      code.line()
      code.line("/// Creates a composite and adds `delegates` weakly, in order.")
      code.block("\(context.memberAccess)\(initializer)(_ delegates: \(type), \(options))") {
        code in
        code.line("self.init(storage: storage, duplicates: duplicates)")
        // Not the line of the macro.
        code.line(
          "for delegate in delegates { self.\(context.hubName).add(delegate, fileID: \"\", line: 0) }"
        )
      }
    }
  }

  /// The conversion to the protocols that this one refines, which the compiler resolves: the
  /// forwarding that the composite inherits costs no dynamic cast.
  private func writeConversion(_ delegate: String, to code: inout CodeWriter) {
    var refined: [String] = []
    for type in context.traits.unknown where type.specifiers.isEmpty {
      // A composition refines each of its protocols.
      for name in type.text.split(separator: " & ").map(String.init) where !refined.contains(name) {
        // In the composite `Delegate` may be the associated type: then a cast has to do.
        if name.prefix(while: { $0 != "<" }) != "Delegate" { refined.append(name) }
      }
    }
    guard !refined.isEmpty else { return }
    code.line()
    code.line("/// `delegate` as an instance of a protocol that `\(context.plainName)` refines.")
    code.line("@inline(__always)")
    // The name of the parameter must not hide that of a protocol.
    code.block(
      "\(context.memberAccess)nonisolated static func _refined<_Target>(_ delegate: \(delegate), as type: _Target.Type) -> _Target?"
    ) { code in
      for type in refined {
        guard type.contains("<") else {
          code.line(
            "if type == (any \(type)).self { return (delegate as any \(type)) as? _Target }")
          continue
        }
        // The compiler converts to it only what it knows the type of.
        code.block("if type == (any \(type)).self") { code in
          code.line("func refine(_ delegate: \(opaqueDelegate)) -> any \(type) { delegate }")
          code.line("return refine(delegate) as? _Target")
        }
      }
      code.line("return delegate as? _Target")
    }
  }

  /// The requirements of protocols of the standard library.
  private func writeStandardRequirements(to code: inout CodeWriter) {
    let inherited = Set(context.traits.inherited)
    let access = context.memberAccess
    let name = context.compositeName
    guard !inherited.contains("NSObjectProtocol") else { return }
    if !inherited.isDisjoint(with: ["Equatable", "Hashable"]) {
      code.line()
      code.line("/// Whether both are the same composite.")
      code.block(
        "\(access)nonisolated static func == (left: \(name), right: \(name)) -> \(context.names.standard("Bool"))"
      ) {
        $0.line("left === right")
      }
    }
    if inherited.contains("Hashable") {
      code.line()
      code.block(
        "\(access)nonisolated func hash(into hasher: inout \(context.names.standard("Hasher")))"
      ) {
        $0.line("hasher.combine(\(context.names.standard("ObjectIdentifier"))(self))")
      }
    }
    for (conformance, property) in CompositeWriter.descriptions
    where inherited.contains(conformance) && !isDeclared(property) {
      code.line()
      code.line("/// The description of the delegates.")
      // Any thread may ask for it: it retains no delegate that belongs to an actor.
      let text =
        isolationOfHub.isEmpty && context.traits.isolation != .none
        ? "_composition.description" : "\(context.hubName).\(property)"
      let isolation = context.traits.isolation == .none ? "" : "nonisolated "
      code.block("\(access)\(isolation)var \(property): \(context.names.standard("String"))") {
        $0.line(text)
      }
    }
  }
}
