import Foundation
import Testing

@testable import FanOutCore

@Suite struct JSONObjectTests {
  private func members(_ text: String) throws -> [String: JSONObject.Value] {
    try JSONObject(text.utf8).members
  }

  @Test func valuesAreAsTheyAreWritten() throws {
    let text = #" {"a" : "x", "b":-1.50e+3 ,"c":[1, {"d":null}],"":true,"e":{} ,"f":[]} "#
    #expect(
      try members(text) == [
        "a": .string("x"), "b": .other("-1.50e+3"), "c": .other(#"[1, {"d":null}]"#),
        "": .other("true"), "e": .other("{}"), "f": .other("[]"),
      ])
    #expect(try members("{}") == [:])
  }

  @Test func escapesAreDecoded() throws {
    let text = #"{"\u0061":"\" \\ \/ \b \f \n \r \t \u00e4 \uD83D\uDE00 😀 \u0000"}"#
    let expected = "\" \\ / \u{8} \u{c} \n \r \t ä 😀 😀 \u{0}"
    #expect(try members(text) == ["a": .string(expected)])
  }

  @Test(arguments: [
    "", " ", "{", "}", "{]", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, #"{,}"#, #"{"a":1 "b":2}"#,
    #"{'a':1}"#, #"{a:1}"#, #"{"a":01}"#, #"{"a":1.}"#, #"{"a":.5}"#, #"{"a":+1}"#, #"{"a":-}"#,
    #"{"a":1e}"#, #"{"a":tru}"#, #"{"a":nul}"#, #"{"a":"x}"#, #"{"a":"\x"}"#, #"{"a":"\u12"}"#,
    #"{"a":"\uD83D"}"#, #"{"a":"\uD83Dx"}"#, #"{"a":"\uD83D\u0041"}"#, #"{"a":"\uDE00"}"#,
    "{\"a\":\"\n\"}", "{\"a\":\"\u{1}\"}", #"{"a":[1,]}"#, #"{"a":[1 2]}"#, #"{"a":1}x"#,
    #"{"a":1}{}"#, #"{"a":"\u+123"}"#,
  ])
  func whatIsNotJSONIsRefused(_ text: String) {
    #expect(throws: JSONObject.Fault.self) { try JSONObject(text.utf8) }
    #expect(!JSONObject.isJSON(text.utf8))
  }

  @Test(arguments: ["[]", "1", "\"x\"", "null"])
  func otherValuesAreNoObjects(_ text: String) {
    #expect(throws: JSONObject.Fault.notAnObject) { try JSONObject(text.utf8) }
    #expect(JSONObject.isJSON(text.utf8))
  }

  @Test func bytesThatAreNotUTF8AreRefused() {
    let bytes = Array(#"{"a":""#.utf8) + [0xff] + Array(#""}"#.utf8)
    #expect(throws: JSONObject.Fault.syntax(5)) { try JSONObject(bytes) }
  }

  @Test func theDepthIsLimited() throws {
    func nested(_ depth: Int) -> String {
      #"{"a":"# + String(repeating: "[", count: depth) + String(repeating: "]", count: depth) + "}"
    }
    #expect(try members(nested(63)).count == 1)
    #expect(throws: JSONObject.Fault.depth) { try JSONObject(nested(64).utf8) }
    #expect(throws: JSONObject.Fault.self) {
      try JSONObject((#"{"a":"# + String(repeating: "[", count: 100_000)).utf8)
    }
  }

  /// Changed texts are JSON for both, or for none of them. Foundation also accepts a comma after
  /// the last element.
  @Test func itAgreesWithFoundation() {
    var random = SplitMix64(seed: SplitMix64.runSeed)
    let text = Array(#"{"a\n":[1,-2.5e3,{"b":null},"\u00e4 x",true,false],"c":"ü","d":{}}"#.utf8)
    let bytes = Array(#"{}[]",:\u0e.-+1tfn a"#.utf8)
    for _ in 0..<20_000 {
      var changed = text
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let index = Int.random(in: 0..<changed.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: changed.remove(at: index)
        case 1: changed[index] = bytes.randomElement(using: &random)!
        default: changed.insert(bytes.randomElement(using: &random)!, at: index)
        }
      }
      let string = String(decoding: changed, as: UTF8.self)
      guard !string.contains(/,\s*[\]}]/) else { continue }
      let options = JSONSerialization.ReadingOptions.fragmentsAllowed
      let object = try? JSONSerialization.jsonObject(with: Data(changed), options: options)
      #expect(JSONObject.isJSON(changed) == (object != nil), "\(string)")
    }
  }
}
