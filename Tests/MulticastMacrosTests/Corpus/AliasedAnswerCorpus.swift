import MulticastMacros
import Testing

// Answers that are optional, which the macro does not see because an alias hides it.

typealias MaybeNumber = Int?

@Multicast
protocol AliasedAnswers: AnyObject, Sendable {
  @Answer(.first, default: 3) func first() -> MaybeNumber
  @Answer(.last, default: 3) func last() -> MaybeNumber
  @Answer(.first, default: 3) func firstLater() async -> MaybeNumber
  @Answer(.last, default: 3) func lastLater() async -> MaybeNumber
  @Answer(.first, default: 3, errors: .afterAll) func firstOfAll() throws -> MaybeNumber
  @Answer(.last, default: 3, errors: .afterAll) func lastOfAll() throws -> MaybeNumber
  @Answer(.first, default: 3, errors: .afterAll) func firstOfAllLater() async throws -> MaybeNumber
  @Answer(.last, default: 3, errors: .afterAll) func lastOfAllLater() async throws -> MaybeNumber
  @Answer(.first, default: 3, calls: .concurrent) func firstAtOnce() async -> MaybeNumber
  @Answer(.last, default: 3, calls: .concurrent) func lastAtOnce() async -> MaybeNumber
  @Answer(.first, default: nil, errors: .afterAll) func firstOrNil() throws -> MaybeNumber
  @Answer(.last, default: nil) func lastOrNil() async -> MaybeNumber
}

private final class Answering: AliasedAnswers {
  let answer: Int?

  init(_ answer: Int?) { self.answer = answer }

  func first() -> Int? { answer }
  func last() -> Int? { answer }
  func firstLater() async -> Int? { answer }
  func lastLater() async -> Int? { answer }
  func firstOfAll() -> Int? { answer }
  func lastOfAll() -> Int? { answer }
  func firstOfAllLater() async -> Int? { answer }
  func lastOfAllLater() async -> Int? { answer }
  func firstAtOnce() async -> Int? { answer }
  func lastAtOnce() async -> Int? { answer }
  func firstOrNil() -> Int? { answer }
  func lastOrNil() async -> Int? { answer }
}

@Suite("Corpus: optional answers that an alias hides")
struct AliasedAnswerCorpus {
  @Test(
    "the first or last answer is one that is not nil",
    arguments: [[nil, 5, 6, nil], [5, nil], [nil, 5], [nil], []] as [[Int?]])
  func policies(_ answers: [Int?]) async throws {
    let delegates = answers.map(Answering.init)
    let composite = MulticastAliasedAnswers(delegates)
    let present = answers.compactMap { $0 }
    let (first, last) = (present.first ?? 3, present.last ?? 3)
    #expect(composite.first() == first)
    #expect(composite.last() == last)
    #expect(await composite.firstLater() == first)
    #expect(await composite.lastLater() == last)
    #expect(try composite.firstOfAll() == first)
    #expect(try composite.lastOfAll() == last)
    #expect(try await composite.firstOfAllLater() == first)
    #expect(try await composite.lastOfAllLater() == last)
    #expect(await composite.firstAtOnce() == first)
    #expect(await composite.lastAtOnce() == last)
    #expect(try composite.firstOrNil() == present.first)
    #expect(await composite.lastOrNil() == present.last)
    withExtendedLifetime(delegates) {}
  }
}
