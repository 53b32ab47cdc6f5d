import MulticastTestSupport
import Testing

@testable import Multicast

@Suite("PatternIndex")
struct PatternIndexTests {
  private final class Target: PatternTarget, @unchecked Sendable {}

  private func matches(_ index: PatternIndex, _ topic: String) -> [PatternTarget] {
    var found: [PatternTarget] = []
    _ = index.withMatches(of: topic) { matches in
      for number in 0..<matches.count {
        found.append(matches[number].takeUnretainedValue() as! PatternTarget)
      }
      return 0
    }
    return found
  }

  @Test("targets with equal patterns are one, until its last user has gone")
  func users() {
    let index = PatternIndex()
    let target = index.acquire(["a.*", "b"]) { Target(["a.*", "b"]) }
    #expect(index.acquire(["b", "a.*"]) { Target(["a.*", "b"]) } === target)
    #expect(index.count == 2 && !index.isEmpty)
    index.change(target, by: -1)
    #expect(matches(index, "a.x").first === target)
    index.change(target, by: -1)
    #expect(index.count == 0 && index.isEmpty && matches(index, "a.x").isEmpty)
    index.change(target, by: 1)
    index.change(target, by: -1)
    #expect(index.count == 0, "a target that was removed stays so")
    #expect(index.acquire(["b", "a.*"]) { Target(["a.*", "b"]) } !== target)
  }

  @Test("the table grows and shrinks with the patterns, and finds each")
  func growth() {
    let index = PatternIndex()
    let patterns = (0..<5000).map { TopicPattern("a.\($0).\($0 % 7).*")! }
    let targets = patterns.map { pattern in index.acquire([pattern]) { Target([pattern]) } }
    #expect(index.nodeCount == 1 + 5000 + 5000)
    #expect(index.ownSlots.capacity <= 8 * index.nodeCount)
    for number in 0..<5000 where number % 2 == 0 { index.change(targets[number], by: -1) }
    for number in 0..<5000 {
      #expect(matches(index, "a.\(number).\(number % 7).x").count == number % 2)
    }
    for number in 0..<5000 where number % 2 == 1 { index.change(targets[number], by: -1) }
    #expect(index.nodeCount == 0 && index.root.uses == 0 && index.isEmpty)
    #expect(index.ownSlots.capacity <= 64)
  }

  @Test("a reader keeps what it has found, whatever writers do")
  func readers() {
    weak var freed: PatternTarget?
    let index = PatternIndex()
    do {
      let target = index.acquire(["a.>", "*.b"]) { Target(["a.>", "*.b"]) }
      freed = target
    }
    _ = index.withMatches(of: "a.b") { matches in
      #expect(matches.count == 1)
      index.change(matches[0].takeUnretainedValue() as! PatternTarget, by: -1)
      #expect(index.isEmpty && freed != nil)
      return 0
    }
    #expect(freed == nil)
  }

  @Test("very many subscriptions with one pattern in common come and go")
  func common() {
    let index = PatternIndex()
    let sets = (0..<20_000).map { Set<TopicPattern>([TopicPattern("u.\($0)")!, "all.>"]) }
    let targets = sets.map { set in index.acquire(set) { Target(set) } }
    #expect(index.count == 20_001)
    #expect(matches(index, "all.x").count == 20_000 && matches(index, "u.7").count == 1)
    for target in targets { index.change(target, by: -1) }
    #expect(index.isEmpty)
  }

  @Test("patterns and topics of very many tokens need no stack, and wildcards no more nodes")
  func longPatterns() {
    let thread = RunningThread(stackSize: 128 * 1024) {
      let index = PatternIndex()
      let count = 50_000
      let literal = TopicPattern(Array(repeating: "a", count: count).joined(separator: "."))!
      let stars = TopicPattern(Array(repeating: "*", count: count).joined(separator: "."))!
      let targets = [literal, stars].map { pattern in index.acquire([pattern]) { Target([pattern]) }
      }
      #expect(matches(index, literal.description).count == 2)
      #expect(matches(index, literal.description + ".a").isEmpty)
      #expect(literal.matches(literal.description) && stars.matches(literal.description))
      for target in targets { index.change(target, by: -1) }
      #expect(index.isEmpty)
    }
    thread.join()
  }

  @Test("equal tokens have equal keys, whichever way they are written")
  func keys() {
    for (one, other) in [("K", "\u{212A}"), ("`;", "\u{1FEF}\u{37E}"), ("\u{E9}", "e\u{301}")] {
      #expect(one == other && hash(one) == hash(other))
    }
    #expect(hash("a") != hash("b"))
  }

  private func hash(_ text: String) -> Int {
    var text = text
    return text.withUTF8 { bytes in
      var tokens = TopicTokens(bytes)
      return TokenKey(tokens.next()!).hash
    }
  }
}
