/// A message of the compiler.
///
/// A newer compiler may send other messages, and other fields in these: both are ignored. Only what
/// an expansion needs is required.
struct HostMessage: Decodable {
  /// Asks what the plugin can do.
  var getCapability: GetCapability?
  var expandAttachedMacro: ExpandAttachedMacro?
  var expandFreestandingMacro: Ignored?

  struct GetCapability: Decodable {
    var capability: HostCapability?
  }

  struct HostCapability: Decodable {
    var protocolVersion: Int?
  }

  struct Ignored: Decodable {
    init(from decoder: any Decoder) {}
  }

  struct ExpandAttachedMacro: Decodable {
    var macro: MacroReference
    var macroRole: String
    var attributeSyntax: Syntax
    var declSyntax: Syntax
    /// The type that an extension extends, with the types around it.
    var extendedTypeSyntax: Syntax?
    /// The declarations around this one, the innermost first, without their members.
    var lexicalContext: [Syntax]?
    /// What the compiler knows, as JSON in a string.
    var staticBuildConfiguration: String?
  }

  struct MacroReference: Decodable {
    var typeName: String
  }

  struct Syntax: Decodable {
    var source: String
    var location: Location?
  }

  struct Location: Decodable {
    var fileName: String?
    /// The offset of the source in its file, in bytes of UTF-8.
    var offset: Int?
  }
}
