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
protocol ParenthesizedResults: AnyObject {
  func nothing() -> (Void)
  func nothing(at number: Int) async -> (())
  func isReady() -> (Bool)
  func parenthesized() async -> (Int)?
  func numbers() -> ([(Int)])
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

/// A generic parameter that only the result has.
@Multicast
protocol GenericResults: AnyObject {
  func first<T: Numeric>() async -> T?
  @Answer(.last) func last<T: Numeric>() async throws -> T?
  @Answer(.first, default: 0) func firstNumber<T: Numeric>() async -> T
  @Answer(.last, default: 0) func lastNumber<T: Numeric>() async -> T
}

@Multicast
protocol NoncopyableResults: AnyObject {
  func first() async -> Ticket?
  @Answer(.last) func last() async throws -> Ticket?
}

/// A default that is a closure must get the type of the result.
@Multicast
protocol FunctionResults: AnyObject {
  @Answer(.last, default: ({ 0 })) var source: @Sendable () -> Int { get }
  @Answer(.first, default: { (x: Int) in -x }) func change() -> @Sendable (Int) -> Int
  @Answer(.last, default: { (x: Int) in -x }) func changeLater() async -> @Sendable (Int) -> Int
  @Answer(.first, default: { (x: Int) in x }, errors: .afterAll) func load() throws
    -> @Sendable (Int) -> Int
}

final class ParenthesesRecorder: Recorder, ParenthesizedResults, @unchecked Sendable {
  func nothing() { note("nothing") }
  func nothing(at number: Int) async { note("\(number)") }
  func isReady() -> Bool { id == 1 }
  func parenthesized() async -> Int? { id == 1 ? nil : id }
  func numbers() -> [Int] { [id] }
}

final class ResultRecorder: Recorder, SentResults, ImplicitResults, MetatypeResults, TypedAnswers,
  GenericResults, NoncopyableResults, FunctionResults, @unchecked Sendable
{
  var source: @Sendable () -> Int { { [id] in id } }
  func change() -> @Sendable (Int) -> Int { { [id] in $0 + id } }
  func changeLater() async -> @Sendable (Int) -> Int { { [id] in $0 + id } }
  func load() throws -> @Sendable (Int) -> Int { { [id] in $0 * id } }
  func first<T: Numeric>() async -> T? { id == 1 ? nil : T(exactly: id) }
  func last<T: Numeric>() async throws -> T? { id == 1 ? T(exactly: id) : nil }
  func firstNumber<T: Numeric>() async -> T { T(exactly: id) ?? 0 }
  func lastNumber<T: Numeric>() async -> T { T(exactly: id) ?? 0 }
  func first() async -> Ticket? { id == 1 ? nil : Ticket(number: id) }
  func last() async throws -> Ticket? { id == 1 ? Ticket(number: id) : nil }
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
  @Test("parentheses around a result mean nothing")
  func parentheses() async {
    let (first, second, log) = pair(ParenthesesRecorder.self)
    let composite = MulticastParenthesizedResults([first, second])
    composite.nothing()
    await composite.nothing(at: 3)
    #expect(log.take() == both("nothing") + both("3"))
    #expect(!composite.isReady() && composite.numbers() == [1, 2])
    #expect(await composite.parenthesized() == 2)
  }

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

  @Test func generic() async throws {
    let (first, second, _) = pair(ResultRecorder.self)
    let composite = MulticastGenericResults([first, second])
    #expect(await composite.first() == Int8(2))
    #expect(try await composite.last() == 1.0)
    #expect(await composite.firstNumber() == Int8(1))
    #expect(await composite.lastNumber() == 2.0)
  }

  @Test func functions() async throws {
    let (first, second, _) = pair(ResultRecorder.self)
    let composite = MulticastFunctionResults([first, second])
    #expect(composite.source() == 2)
    #expect(composite.change()(10) == 11)
    #expect(await composite.changeLater()(10) == 12)
    #expect(try composite.load()(10) == 10)
    let empty = MulticastFunctionResults()
    #expect(empty.source() == 0)
    #expect(empty.change()(10) == -10)
    #expect(await empty.changeLater()(10) == -10)
    #expect(try empty.load()(10) == 10)
  }

  @Test func noncopyable() async throws {
    let (first, second, _) = pair(ResultRecorder.self)
    let composite = MulticastNoncopyableResults([first, second])
    #expect(await composite.first()?.number == 2)
    #expect(try await composite.last()?.number == 1)
  }

  @Test("a policy may name the type of its default")
  func typedDefaults() {
    let (first, second, _) = pair(ResultRecorder.self)
    let composite = MulticastTypedAnswers([first, second])
    #expect(composite.number() == 2 && composite.count() == 1)
  }
}
