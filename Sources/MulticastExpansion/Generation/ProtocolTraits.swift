/// What the declaration of a protocol tells about its delegates.
struct ProtocolTraits {
  enum Answer: Equatable {
    case yes
    case no
    /// A protocol that it refines decides.
    case unknown
  }

  enum Isolation: Equatable {
    case none
    /// The attribute, such as `@MainActor`.
    case globalActor(String)
    /// The protocol refines `Actor`.
    case actor
  }

  var isolation = Isolation.none
  var isSendable = Answer.no
  var isClassBound = Answer.no
  /// The names of all protocols that it refines.
  var inherited: [String] = []
  /// Those which this plugin does not know.
  var unknown: [TypeSyntax] = []

  /// Protocols that neither require anything of the composite nor bind it to an actor.
  private static let neutral: Set<String> = [
    "AnyObject", "class", "Sendable", "SendableMetatype", "Copyable", "Escapable",
    "BitwiseCopyable", "Identifiable", "NSObjectProtocol", "Equatable", "Hashable",
    "CustomStringConvertible", "CustomDebugStringConvertible", "Actor", "AnyActor",
    "DistributedActor", "Error", "Any",
  ]

  init(_ declaration: ProtocolDeclaration) {
    let fromConstraints = declaration.constraints
      .filter { $0.left.text == "Self" && $0.relation == ":" }.map(\.right)
    for type in declaration.inherited + fromConstraints {
      let names = type.standardName.map { [$0] } ?? type.baseNames
      for name in names where name != "Swift" {
        inherited.append(name)
        if !ProtocolTraits.neutral.contains(name) { unknown.append(type) }
      }
    }
    let names = Set(inherited)
    let isActor = !names.isDisjoint(with: ["Actor", "AnyActor", "DistributedActor"])
    let other: Answer = unknown.isEmpty ? .no : .unknown
    isSendable = isActor || !names.isDisjoint(with: ["Sendable", "Error"]) ? .yes : other
    isClassBound =
      isActor || !names.isDisjoint(with: ["AnyObject", "class", "NSObjectProtocol"]) ? .yes : other
    if isActor {
      isolation = .actor
    } else if let attribute = declaration.attributes.first(where: ProtocolTraits.isGlobalActor) {
      isolation = .globalActor(attribute.text)
    }
  }

  /// Whether an attribute is a global actor, as far as its name tells: attached macros look the
  /// same.
  static func isGlobalActor(_ attribute: Attribute) -> Bool {
    let name = attribute.baseName
    guard name.first?.isUppercase == true, attribute.arguments.isEmpty else { return false }
    guard !["Multicast", "Answer", "Sendable", "GKInspectable"].contains(name) else { return false }
    if name.hasSuffix("Actor") { return true }
    return !["Mock", "Spy", "Stub", "Fake", "Dummy", "Generate", "Observable", "NS", "IB", "UI"]
      .contains { name.contains($0) }
  }
}
