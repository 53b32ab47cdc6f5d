import Foundation
import Multicast
import MulticastTestSupport
import Testing

@Suite("The syntax of patterns of topics", .timeLimit(.minutes(10)))
struct TopicPatternTests {
  @Test("`*` matches one token, a last `>` one or more, everything else itself")
  func table() throws {
    let cases: [(TopicPattern, matching: [String], not: [String])] = [
      ("a", ["a"], ["b", "a.a", "A", ""]),
      ("a.b", ["a.b"], ["a", "a.b.c", "a.c", "b.a"]),
      ("*", ["a", "*", ">", "two words"], ["", "a.b", ".", "a."]),
      ("a.*", ["a.b", "a.*"], ["a", "a.", "a.b.c", "b.a"]),
      ("a.*.c", ["a.b.c", "a.c.c"], ["a.c", "a.b.b.c", "a..c", "a.b.c."]),
      (">", ["a", "a.b", "a.b.c"], ["", ".", "a.", ".a", "a..b"]),
      ("a.>", ["a.b", "a.b.c"], ["a", "a.", "b.a", "a..b", "a.b..c", "a.b."]),
      ("*.*", ["a.b"], ["a", "a.b.c"]),
      ("*.>", ["a.b", "a.b.c"], ["a"]),
      ("a*", ["a*"], ["ab", "a"]), ("*a", ["*a"], ["ba"]), (">>", [">>"], ["a"]),
      ("a.>b", ["a.>b"], ["a.b"]), ("a>.b", ["a>.b"], ["a.b"]),
    ]
    for (pattern, matching, not) in cases {
      for topic in matching { #expect(pattern.matches(topic), "\(pattern) \(topic)") }
      for topic in not { #expect(!pattern.matches(topic), "\(pattern) \(topic)") }
    }
  }

  @Test("text that is no pattern is refused with an error that says why")
  func errors() {
    let cases: [(String, TopicPatternError)] = [
      ("", .emptyToken(number: 1, pattern: "")), (".", .emptyToken(number: 1, pattern: ".")),
      ("a.", .emptyToken(number: 2, pattern: "a.")),
      ("a..b", .emptyToken(number: 2, pattern: "a..b")),
      (".a", .emptyToken(number: 1, pattern: ".a")),
      (">.a", .wildcardNotLast(number: 1, pattern: ">.a")),
      ("a.>.>", .wildcardNotLast(number: 2, pattern: "a.>.>")),
      ("a.>.", .wildcardNotLast(number: 2, pattern: "a.>.")),
    ]
    for (text, error) in cases {
      #expect(throws: error) { try TopicPattern(parsing: text) }
      #expect(TopicPattern(text) == nil)
      #expect(throws: DecodingError.self) {
        try JSONDecoder().decode([TopicPattern].self, from: JSONEncoder().encode([text]))
      }
    }
    let message = TopicPatternError.emptyToken(number: 2, pattern: "a..b").description
    #expect(message.contains("\"a..b\"") && message.contains("token 2 is empty"))
  }

  @Test("a literal that is no pattern ends the program with a message that names it")
  func literal() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let pattern: TopicPattern = "a..b"
      print(pattern)
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains("\"a..b\" is not a pattern of topics: token 2 is empty"))
  }

  @Test("its text, its coding and its equality are those of the string")
  func value() throws {
    let text = "a.*.c.>"
    let pattern = try #require(TopicPattern(text))
    #expect(pattern.description == text && "\(pattern)" == text)
    let data = try JSONEncoder().encode(["p": pattern])
    #expect(String(decoding: data, as: UTF8.self) == #"{"p":"a.*.c.>"}"#)
    #expect(try JSONDecoder().decode([String: TopicPattern].self, from: data)["p"] == pattern)
    #expect(Set([pattern, "a.*.c.>", "a.*"]).count == 2)
  }

  @Test("equivalent text is the same, for a value and for a hub")
  func equivalence() {
    let (composed, decomposed) = ("caf\u{E9}.\u{212A}", "cafe\u{301}.K")
    let dots = ".\u{301}x"  // A grapheme that contains a dot.
    for (one, other) in [(composed, decomposed), (decomposed, composed)] {
      let pattern = TopicPattern(one)!
      #expect(pattern == TopicPattern(other)! && pattern.matches(other))
      let hub = TopicHub<String, Int>()
      let subscriptions = [
        hub.subscribe(matching: pattern) { _ in },
        hub.subscribe(matching: TopicPattern("*." + other.split(separator: ".")[1])!) { _ in },
      ]
      #expect(hub.send(1, to: other) == 2 && hub.send(1, to: one) == 2)
      #expect(hub.patterns.count == 2 && hub.subscriberCount(matching: TopicPattern(other)!) == 1)
      #expect(hub.send(1, to: "cafe.K") == 1)
      withExtendedLifetime(subscriptions) {}
    }
    #expect(TopicPattern("a" + dots) != nil)
    #expect(TopicPattern("a.*").matches("a" + dots))
    #expect(!TopicPattern("*").matches("a" + dots))
  }

  @Test("random patterns match random topics as a naive matcher says, in a value and in a hub")
  func random() {
    var generator = SplitMix64(seed: SplitMix64.runSeed)
    let tokens = ["a", "b", "\u{E9}", "e\u{301}", "*", ">", "", "ab", "K", "\u{212A}"]
    func text() -> String {
      (0...Int.random(in: 0..<5, using: &generator)).map { _ in
        tokens.randomElement(using: &generator)!
      }.joined(separator: ".")
    }
    for _ in 0..<60 {
      let texts = (0..<40).map { _ in text() }
      let patterns = texts.compactMap { TopicPattern($0) }
      #expect(patterns.count == texts.filter(isPattern).count)
      let hub = TopicHub<String, Int>()
      var subscriptions = patterns.map { pattern in
        hub.subscribe(matching: pattern) { #expect(naive(pattern.description, $0.topic)) }
      }
      for round in 0..<2 {
        for topic in (0..<30).map({ _ in text() }) {
          let matching = patterns.filter { naive($0.description, topic) }
          #expect(patterns.filter { $0.matches(topic) } == matching)
          let active = subscriptions.indices.filter { subscriptions[$0].isActive }
          let expected = active.count { naive(patterns[$0].description, topic) }
          #expect(hub.send(1, to: topic) == expected, "\(topic)")
        }
        if round == 0 {
          for subscription in subscriptions.shuffled(using: &generator).prefix(patterns.count / 2) {
            subscription.cancel()
          }
        }
      }
      subscriptions = []
      #expect(hub.patterns.isEmpty)
    }
  }
}

private func split(_ text: String) -> [String] {
  text.unicodeScalars.split(separator: ".", omittingEmptySubsequences: false).map { String($0) }
}

private func isPattern(_ text: String) -> Bool {
  let tokens = split(text)
  return !tokens.contains("") && !tokens.dropLast().contains(">")
}

/// As the definition says.
private func naive(_ pattern: String, _ topic: String) -> Bool {
  func matches(_ pattern: ArraySlice<String>, _ topic: ArraySlice<String>) -> Bool {
    guard let first = pattern.first else { return topic.isEmpty }
    guard let token = topic.first else { return false }
    if first == ">" && pattern.count == 1 { return true }
    return (first == "*" || first == token) && matches(pattern.dropFirst(), topic.dropFirst())
  }
  let tokens = split(topic)
  return !tokens.contains("") && matches(split(pattern)[...], tokens[...])
}
