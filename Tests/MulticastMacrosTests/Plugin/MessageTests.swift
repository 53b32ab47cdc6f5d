import Foundation
import Testing

@testable import MulticastExpansion

@Suite("The messages of the compiler")
struct MessageTests {
  private func expansion(
    _ source: String, role: String = "peer", macro: String = "MulticastMacro", offset: Int = 100,
    more: String = ""
  ) -> String {
    let text = String(decoding: try! JSONEncoder().encode(source), as: UTF8.self)
    return """
      {"expandAttachedMacro":{"macro":{"moduleName":"M","typeName":"\(macro)","name":"Multicast"},\
      "macroRole":"\(role)","discriminator":"$s1","attributeSyntax":{"kind":"attribute","source":"@Multicast",\
      "location":{"fileID":"M/f.swift","fileName":"f.swift","offset":\(offset),"line":1,"column":1}},\
      "declSyntax":{"kind":"declaration","source":\(text),"location":{"fileID":"M/f.swift",\
      "fileName":"f.swift","offset":\(offset),"line":1,"column":1}}\(more)}}
      """
  }

  private func answer(_ messages: String...) -> PluginMessage {
    var handler = MessageHandler()
    _ = handler.answer(to: Data(#"{"getCapability":{"capability":{"protocolVersion":7}}}"#.utf8))
    var last = PluginMessage()
    for message in messages { last = handler.answer(to: Data(message.utf8)) }
    return last
  }

  @Test("the capability is answered with the version of the messages")
  func capability() throws {
    var handler = MessageHandler()
    let data = handler.response(to: Data(#"{"getCapability":{}}"#.utf8))
    #expect(
      String(decoding: data, as: UTF8.self)
        .contains(#""getCapabilityResult":{"capability":{"#))
    #expect(
      answer(#"{"getCapability":{"capability":{"protocolVersion":99,"new":1}}}"#)
        .getCapabilityResult?.capability.protocolVersion == 7)
  }

  @Test("an attached macro is expanded")
  func expansion() throws {
    let result = try #require(
      answer(expansion("@Multicast protocol P: AnyObject { func f() }")).expandMacroResult)
    #expect(result.diagnostics.isEmpty)
    #expect(result.expandedSource?.contains("final class MulticastP: P") == true)
  }

  @Test("a release build warns of a protocol whose composite the optimizer may overlook")
  func access() throws {
    func diagnostics(_ declaration: String, _ conditions: [String]) throws -> [String] {
      let list = conditions.map { #"\"\#($0)\""# }.joined(separator: ",")
      let more = #","staticBuildConfiguration":"{\"customConditions\":[\#(list)]}""#
      let result = try #require(
        answer(expansion("@Multicast \(declaration): AnyObject { func f() }", more: more))
          .expandMacroResult)
      #expect(result.expandedSource?.contains("MulticastP") == true)
      return result.diagnostics.map { "\($0.severity) \($0.position.offset): \($0.message)" }
    }
    let warnings = try diagnostics("protocol P", ["SWIFT_PACKAGE"])
    #expect(warnings.count == 1)
    #expect(warnings[0].hasPrefix("warning 120: if only one other type conforms to 'P', "))
    #expect(try diagnostics("private protocol P", ["SWIFT_PACKAGE"]).count == 1)
    #expect(try diagnostics("protocol P", ["SWIFT_PACKAGE", "DEBUG"]).isEmpty)
    #expect(try diagnostics("protocol P", []).isEmpty)
    for declaration in ["public protocol P", "package protocol P", "@usableFromInline protocol P"] {
      #expect(try diagnostics(declaration, ["SWIFT_PACKAGE"]).isEmpty)
    }
  }

  @Test("the types around a protocol limit its access, and an extension sets it")
  func enclosingTypes() throws {
    func members(_ declaration: String, in types: String...) throws -> String {
      let list = types.map { #"{"source":"\#($0)"}"# }.joined(separator: ",")
      let result = try #require(
        answer(
          expansion(
            "@Multicast \(declaration): AnyObject { func f() }",
            more: #","lexicalContext":[\#(list)]"#)
        ).expandMacroResult)
      let source = try #require(result.expandedSource)
      let line = try #require(source.split(separator: "\n").first { $0.hasSuffix("func f() {") })
      return line.trimmingCharacters(in: .whitespaces)
    }
    #expect(try members("public protocol P", in: "public enum E {}") == "public func f() {")
    #expect(try members("public protocol P", in: "enum E {}") == "func f() {")
    #expect(
      try members("public protocol P", in: "public struct S {}", "@available(x) package class C {}")
        == "package func f() {")
    #expect(try members("package protocol P", in: "private actor A {}") == "func f() {")
    #expect(try members("public protocol P", in: "extension E {}") == "public func f() {")
    #expect(try members("protocol P", in: "public extension E {}") == "public func f() {")
    #expect(try members("internal protocol P", in: "public extension E {}") == "func f() {")
    #expect(try members("protocol P", in: "enum E {}", "public extension E {}") == "func f() {")
  }

  @Test("what a newer compiler adds is ignored, and what an older one lacks is not needed")
  func otherVersions() throws {
    let newer = expansion(
      "@Multicast protocol P: AnyObject { func f() }",
      more:
        #","future":{"a":[1]},"staticBuildConfiguration":"{\"features\":[\"ModuleSelector\"],\"x\":1}""#
    )
    #expect(answer(newer).expandMacroResult?.expandedSource?.contains("Multicast::") == true)
    #expect(
      answer(expansion("@Multicast protocol P { func f() }")).expandMacroResult?.expandedSource?
        .contains("Multicast.MulticastDelegate") == true)
    #expect(
      answer(
        expansion(
          "@Multicast protocol P { func f() }", more: #","staticBuildConfiguration":"not json""#)
      )
      .expandMacroResult?.expandedSource != nil)
    var old = MessageHandler()
    let result = old.answer(to: Data(expansion("@Multicast protocol P { func f() }").utf8))
    #expect(result.expandMacroResult == nil)
    #expect(result.expandAttachedMacroResult?.expandedSources?.count == 1)
  }

  @Test("a diagnostic has its place in the file, in bytes")
  func places() throws {
    let source = "/* ü */ @Multicast protocol P: AnyObject { func f() -> Int }"
    let result = try #require(answer(expansion(source, offset: 1000)).expandMacroResult)
    #expect(result.expandedSource == nil)
    let diagnostic = try #require(result.diagnostics.first)
    #expect(result.diagnostics.count == 1)
    let place = source.utf8.count - "Int }".utf8.count + 1000
    #expect(diagnostic.position == .init(fileName: "f.swift", offset: place))
    #expect(diagnostic.highlights.first?.endOffset == place + 3)
    #expect(diagnostic.severity == "error")
    let again = answer(expansion(source, role: "extension")).expandMacroResult
    #expect(again?.diagnostics.isEmpty == true, "the other role does not repeat it")
  }

  @Test(
    "malformed messages are answered with a diagnostic",
    arguments: [
      "", "{", "null", "[]", "3", #""text""#, "{}", #"{"expandAttachedMacro":{}}"#,
      #"{"expandAttachedMacro":{"macro":1}}"#, #"{"getCapability":3}"#, #"{"unknown":{}}"#,
      #"{"loadPluginLibrary":{"libraryPath":"","moduleName":""}}"#,
      #"{"expandFreestandingMacro":{"macro":{}}}"#, "\u{0}\u{1}", "{\"expandAttachedMacro\":null}",
    ])
  func malformed(message: String) throws {
    let result = try #require(answer(message).expandMacroResult)
    #expect(result.expandedSource == nil)
    #expect(result.diagnostics.count == 1)
  }

  @Test("a macro that the plugin does not know is a diagnostic")
  func unknownMacro() throws {
    let result = answer(expansion("protocol P {}", macro: "OtherMacro")).expandMacroResult
    #expect(result?.diagnostics.first?.message.contains("OtherMacro") == true)
    let role = answer(expansion("protocol P {}", role: "member")).expandMacroResult
    #expect(role?.diagnostics.count == 1)
  }

  @Test("frames are eight bytes of length and a message, until the end of the input")
  func frames() throws {
    func frame(_ text: String) -> Data {
      var data = Data()
      for byte in 0..<8 { data.append(UInt8(truncatingIfNeeded: text.utf8.count >> (8 * byte))) }
      return data + Data(text.utf8)
    }
    func received(_ input: Data) throws -> [String] {
      let pipe = Pipe()
      let connection = Connection(input: pipe.fileHandleForReading, output: .nullDevice)
      try pipe.fileHandleForWriting.write(contentsOf: input)
      try pipe.fileHandleForWriting.close()
      var messages: [String] = []
      while let message = connection.receive() {
        messages.append(String(decoding: message, as: UTF8.self))
      }
      return messages
    }
    #expect(try received(frame("a") + frame("bc")) == ["a", "bc"])
    #expect(try received(frame("a") + frame("") + frame("b")) == ["a"], "an empty frame ends it")
    #expect(try received(Data()).isEmpty)
    #expect(try received(frame("a") + Data([1, 0, 0])) == ["a"], "a header that is cut off")
    #expect(
      try received(frame("a") + frame("bcd").dropLast()) == ["a"], "a message that is cut off")
    #expect(try received(Data(repeating: 255, count: 20)).isEmpty, "a length that is too large")
  }

  @Test("an answer is one frame")
  func sends() throws {
    let pipe = Pipe()
    let connection = Connection(input: .nullDevice, output: pipe.fileHandleForWriting)
    connection.send(Data("abc".utf8))
    try pipe.fileHandleForWriting.close()
    #expect(
      try pipe.fileHandleForReading.readToEnd() == Data([3, 0, 0, 0, 0, 0, 0, 0]) + Data("abc".utf8)
    )
  }
}
