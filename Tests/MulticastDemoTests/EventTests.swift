import Testing

@testable import MulticastDemo

@Suite struct EventTests {
  @Test func fieldsAreSeparatedByAnyNumberOfBlanks() {
    let event = Event("  a\tb  c\r")
    #expect(event.field(1) == "a")
    #expect(event.field(2) == "b")
    #expect(event.field(3) == "c")
    #expect(event.field(4) == nil)
  }

  @Test(arguments: ["", "  ", "\r"])
  func anEmptyLineHasNoField(_ line: String) {
    #expect(Event(line).field(1) == nil)
    #expect(Event(line).field(1000) == nil)
  }

  @Test func invalidUTF8IsRepairedInAField() {
    #expect(Event([0x61, 0xFF, 0x20, 0x62][...]).field(1) == "a\u{FFFD}")
  }

  @Test(arguments: [
    ("abc", "abc", true), ("abc", "b", true), ("abc", "c", true), ("abc", "abcd", false),
    ("aab", "ab", true), ("ababac", "abac", true), ("abc", "x", false), ("", "a", false),
  ])
  func aTextIsFoundWhereverItIs(_ line: String, _ text: String, _ isFound: Bool) {
    #expect(Event(line).contains(Array(text.utf8)) == isFound)
  }

  @Test func aSliceOfALargerBufferIsSearchedWithinItsBounds() {
    let bytes = Array("xxabxx".utf8)
    #expect(Event(bytes[2..<4]).contains(Array("ab".utf8)))
    #expect(!Event(bytes[2..<4]).contains(Array("bx".utf8)))
    #expect(Event(bytes[2..<4]).field(1) == "ab")
  }
}
