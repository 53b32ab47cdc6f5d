import Testing

@testable import FanOutCore

@Suite struct TopicTests {
  @Test(arguments: ["a", "news", "a.b.c", "A-Z_0~9", "0", String(repeating: "x", count: 128)])
  func nameIsTaken(_ name: String) throws {
    #expect(try Topic(name, limit: 128).name == name)
  }

  @Test(
    arguments: [
      ("", Topic.Refusal.empty), (String(repeating: "x", count: 129), .tooLong(128)),
      ("a b", .character), ("%41", .character), ("ä", .character), ("a\0", .character),
      ("*", .character), (">", .character), (".a", .dots), ("a.", .dots), ("a..b", .dots),
      (".", .dots),
    ])
  func nameIsRefused(_ name: String, _ refusal: Topic.Refusal) {
    #expect(throws: refusal) { try Topic(name, limit: 128) }
  }
}
