import MulticastMacros
import Testing

// Defaults of answers that are collected, text that a composite copies, and inherited
// requirements without isolation.

@Multicast
protocol Collected: AnyObject, Sendable {
  @Answer(.first, default: 3) func plain() -> Int?
  @Answer(.first, default: 3, errors: .afterAll) func first() throws -> Int?
  @Answer(.last, default: 3, errors: .afterAll) func last() throws -> Int?
  @Answer(.first, default: 3, calls: .concurrent) func firstOfAll() async -> Int?
  @Answer(.last, default: 3, calls: .concurrent) func lastOfAll() async throws -> Int?
  @Answer(.first, default: nil, errors: .afterAll) func withoutDefault() throws -> Int?
  @Answer(.first, default: "see Self.help") func help() -> String
}

@Multicast
nonisolated protocol Loader: AnyObject, Sendable {
  func note(_ value: Int)
  func load() async -> [Int]
}

@Multicast @MainActor
protocol LoadingView: Loader {
  func show()
}

@Multicast
protocol LazyArgument: AnyObject {
  func use(_ body: @autoclosure () -> (() throws -> Int))
}

private final class Answering: Collected {
  let answer: Int?

  init(_ answer: Int?) { self.answer = answer }

  func plain() -> Int? { answer }
  func first() -> Int? { answer }
  func last() -> Int? { answer }
  func firstOfAll() async -> Int? { answer }
  func lastOfAll() async -> Int? { answer }
  func withoutDefault() -> Int? { answer }
  func help() -> String { "\(answer ?? 0)" }
}

@MainActor
private final class QuietView: LoadingView {
  nonisolated func note(_ value: Int) {}
  nonisolated func load() async -> [Int] { [1] }
  func show() {}
}

private final class LazyUser: LazyArgument {
  private(set) var result: Int?

  func use(_ body: @autoclosure () -> (() throws -> Int)) { result = try? body()() }
}

@Suite("Answers that are collected, and what a composite copies")
struct CollectedAnswerCorpus {
  @Test(
    "a default stands for nil only if no delegate has another answer",
    arguments: [[nil, 5, nil], [nil], []] as [[Int?]])
  func defaults(_ answers: [Int?]) async throws {
    let delegates = answers.map(Answering.init)
    let composite = MulticastCollected(delegates)
    let expected = answers.contains(5) ? 5 : 3
    #expect(composite.plain() == expected)
    #expect(try composite.first() == expected)
    #expect(try composite.last() == expected)
    #expect(await composite.firstOfAll() == expected)
    #expect(try await composite.lastOfAll() == expected)
    #expect(try composite.withoutDefault() == (expected == 5 ? 5 : nil))
    #expect(composite.help() == (answers.isEmpty ? "see Self.help" : "0"))
    withExtendedLifetime(delegates) {}
  }

  @Test("requirements without isolation of a refined protocol are called from anywhere")
  func inherited() async {
    let (view, base) = await MainActor.run {
      let view = QuietView()
      return (view, MulticastLoadingView([view]) as any Loader)
    }
    base.note(1)
    #expect(await base.load() == [1])
    withExtendedLifetime(view) {}
  }

  @Test("a closure that an autoclosure returns may throw")
  func lazyArgument() {
    let user = LazyUser()
    MulticastLazyArgument([user]).use({ 7 })
    #expect(user.result == 7)
  }
}
