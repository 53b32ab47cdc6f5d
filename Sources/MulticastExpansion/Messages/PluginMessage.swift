/// An answer of the plugin.
struct PluginMessage: Encodable {
  var getCapabilityResult: CapabilityResult?
  var expandMacroResult: Expansion?
  /// The answer to a compiler before version 5 of the messages.
  var expandAttachedMacroResult: OldExpansion?

  struct CapabilityResult: Encodable {
    var capability = Capability()
  }

  struct Capability: Encodable {
    /// The messages that this plugin knows. The compiler sends nothing that is newer.
    var protocolVersion = 7
    var features: [String] = []
  }

  struct Expansion: Encodable {
    var expandedSource: String?
    var diagnostics: [Diagnostic]
  }

  struct OldExpansion: Encodable {
    var expandedSources: [String]?
    var diagnostics: [Diagnostic]
  }

  /// All fields are required by the compiler, including the empty ones.
  struct Diagnostic: Encodable, Equatable {
    var message: String
    var severity = "error"
    var position: Position
    var highlights: [Range]
    var notes: [Note] = []
    var fixIts: [FixIt] = []
  }

  struct Position: Encodable, Equatable {
    var fileName: String
    /// In bytes of UTF-8.
    var offset: Int
  }

  struct Range: Encodable, Equatable {
    var fileName: String
    var startOffset: Int
    var endOffset: Int
  }

  struct Note: Encodable, Equatable {
    var position: Position
    var message: String
  }

  struct FixIt: Encodable, Equatable {
    var message: String
    var changes: [Change]
  }

  struct Change: Encodable, Equatable {
    var range: Range
    var newText: String
  }
}
