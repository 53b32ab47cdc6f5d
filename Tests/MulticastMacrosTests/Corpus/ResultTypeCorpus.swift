import MulticastMacros
import Testing

// Results whose types are written otherwise than those of variables.

final class Parcel {
  let number: Int
  init(_ number: Int) { self.number = number }
}

@Multicast
protocol SentResults: AnyObject {
  func parcels() async -> sending [Parcel]
  @Answer(.last, default: nil) func last() async -> sending Parcel?
  @Answer(.all, errors: .afterAll) func load() async throws -> sending [Parcel]
}

@Multicast
protocol ImplicitResults: AnyObject {
  func first() async -> Int!
  @Answer(.last) func last() async -> Int!
  @Answer(errors: .afterAll) func load() async throws -> Int!
  @Answer(.last, errors: .afterAll) func reload() throws -> Int!
}

@Multicast
protocol MetatypeResults: AnyObject {
  @Answer(.first, default: Never.self) func first() async -> Any.Type
  @Answer(.last, default: Never.self) func last() async -> any Equatable.Type
  @Answer(.last, default: Never.self) func only() -> Any.Type
}

@Multicast
protocol TypedAnswers: AnyObject {
  @Answer<Int>(.last, default: 0) func number() -> Int
  @MulticastMacros.Answer<Swift.Int>(.first, default: 0) func count() -> Int
}

final class ResultRecorder: Recorder, SentResults, ImplicitResults, MetatypeResults, TypedAnswers,
  @unchecked Sendable
{
  func first() async -> Any.Type { id == 1 ? Int.self : String.self }
  func last() async -> any Equatable.Type { id == 1 ? Int.self : String.self }
  func only() -> Any.Type { id == 1 ? Int.self : String.self }
  func number() -> Int { id }
  func count() -> Int { id }
  func parcels() async -> sending [Parcel] { [Parcel(id)] }
  func last() async -> sending Parcel? { Parcel(10 * id) }
  func load() async throws -> sending [Parcel] { [Parcel(id)] }
  func first() async -> Int! { id }
  func last() async -> Int! { id }
  func load() async throws -> Int! { id }
  func reload() throws -> Int! { id }
}

@Suite("Corpus: types of results")
struct ResultTypeCorpus {
  @Test func sent() async throws {
    let (first, second, _) = pair(ResultRecorder.self)
    let composite = MulticastSentResults([first, second])
    #expect(await composite.parcels().map(\.number) == [1, 2])
    #expect(await composite.last()?.number == 20)
    #expect(try await composite.load().map(\.number) == [1, 2])
  }

  @Test func implicitlyUnwrapped() async throws {
    let (first, second, _) = pair(ResultRecorder.self)
    let composite = MulticastImplicitResults([first, second])
    #expect(await composite.first() == 1)
    #expect(await composite.last() == 2)
    #expect(try await composite.load() == 1)
    #expect(try composite.reload() == 2)
  }

  @Test func metatypes() async {
    let (first, second, _) = pair(ResultRecorder.self)
    let composite = MulticastMetatypeResults([first, second])
    let answers: [Any.Type] = [await composite.first(), await composite.last(), composite.only()]
    #expect(answers.map { "\($0)" } == ["Int", "String", "String"])
    let absent: Any.Type = await MulticastMetatypeResults().last()
    #expect("\(absent)" == "Never")
  }

  @Test("a policy may name the type of its default")
  func typedDefaults() {
    let (first, second, _) = pair(ResultRecorder.self)
    let composite = MulticastTypedAnswers([first, second])
    #expect(composite.number() == 2 && composite.count() == 1)
  }
}
