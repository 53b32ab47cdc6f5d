import MulticastMacros
import Testing

// Answers: policies, defaults, errors.

enum Decision: Sendable { case allow, deny, ask }

struct Failure: Error, Equatable {
  let id: Int
}

@Multicast
protocol StandardAnswers: AnyObject {
  func isReady() -> Bool
  func name() -> String?
  func names() -> [String]
  func bool() -> Swift.Bool
  func optional() -> Optional<Int>
  func array() -> Array<Int>
  func implicit() -> Int!
  func nothing() -> Void
  func unit() -> ()
  func either() -> (any Error)?
  func closure() -> (() -> Int)?
}

@Multicast
protocol FirstAnswers: AnyObject {
  @Answer(.first, default: 0) func number() -> Int
  @Answer(.first, default: Decision.ask) func decide() -> Decision
  @Answer(.first) func name() -> String?
  @Answer(.first, default: "none") func title() -> String?
  @Answer(.first) func values() -> [Int]
  @Answer(.first) func table() -> [String: Int]
  @Answer(.first, default: false) func flag() -> Bool
  @Answer(.first, default: (0, "")) func pair() -> (Int, String)
}

@Multicast
protocol LastAnswers: AnyObject {
  @Answer(.last, default: -1) func number() -> Int
  @Answer(.last, default: nil) func name() -> String?
  @Answer(.last, default: Decision.allow) func decide() -> Decision
  @MulticastMacros.Answer(AnswerPolicy.last) func values() -> [Int]
}

@Multicast
protocol JoinedAnswers: AnyObject {
  @Answer(.all) func values() -> [Int]
  @Answer(.all) func nested() -> [[Int]]
  @Answer(.all) func text() -> String
  @Answer(.all, default: [-1]) func fallback() -> [Int]
}

@Multicast
protocol VoteAnswers: AnyObject {
  @Answer(.every) func all() -> Bool
  @Answer(.some) func any() -> Bool
  @Answer(.every, default: false) func allOfSome() -> Bool
  @Answer(.some, default: true) func anyOrNobody() -> Bool
}

@Multicast
protocol NumberAnswers: AnyObject {
  @Answer(.sum) func height() -> Double
  @Answer(.sum) func rows() -> Int
  @Answer(.sum, default: -1) func count() -> Int
  @Answer(.reduce(1, *)) func product() -> Int
  @Answer(.reduce(Int.min, max)) func largest() -> Int
  @Answer(.reduce("") { $0 + $1 }) func text() -> String
  @Answer(
    .reduce(
      [Int](),
      { left, right in
        left + right.sorted()
      })) func sorted() -> [Int]
}

@Multicast
protocol Throwing: AnyObject {
  func start(_ id: Int) throws
  func isReady() throws -> Bool
  @Answer(.sum) func rows() throws -> Int
  @Answer(.first) func name() throws -> String?
  @Answer(.last) func last() throws -> String?
  @Answer(.all) func all() throws -> [Int]
  @Answer(.some) func some() throws -> Bool
  @Answer(.reduce(0, +)) func total() throws -> Int
}

@Multicast
protocol TypedThrowing: AnyObject {
  func start(_ id: Int) throws(Failure)
  func isReady() throws(Failure) -> Bool
  @Answer(.first) func name() throws(Failure) -> String?
  @Answer(.all) func values() throws(Failure) -> [Int]
  func never() throws(Never)
  func any() throws(any Error)
}

@Multicast
protocol AfterAll: AnyObject {
  @Answer(errors: .afterAll) func start(_ id: Int) throws
  @Answer(errors: .afterAll) func typed(_ id: Int) throws(Failure)
  @Answer(.sum, errors: .afterAll) func rows() throws -> Int
  @Answer(.all, errors: ErrorPolicy.afterAll) func values() throws(Failure) -> [Int]
  @Answer(.first, default: 0, errors: .afterAll) func first() throws -> Int
  @Answer(.last, errors: .afterAll) func last() throws -> String?
  @Answer(.every, errors: .afterAll) func every() throws -> Bool
  @Answer(.some, default: true, errors: .afterAll) func some() throws -> Bool
  @Answer(.reduce(0, +), errors: .afterAll) func total() throws -> Int
}

@Multicast
protocol Inline: AnyObject, Sendable {
  @Answer(.inline) func receive(_ value: Log)
  @Answer(.inline) func keep(_ body: @escaping () -> Void)
  @Answer(.inline) var note: Log? { get set }
}

@Multicast
protocol LeftOut: AnyObject {
  @Answer(.notForwarded) static func make() -> String
  @Answer(.notForwarded) init(name: String)
  @Answer(.notForwarded) func same(_ other: Self) -> Bool
  @Answer(.notForwarded) func log(_ values: Int...)
  @Answer(.notForwarded) static func + (left: Self, right: Int) -> Int
  func log(_ values: [Int])
}

extension LeftOut {
  static func make() -> String { "made" }
  init(name: String) { fatalError("no composite is made from a name") }
  func same(_ other: Self) -> Bool { self === other }
  func log(_ values: Int...) { log(values) }
  static func + (left: Self, right: Int) -> Int { right }
}

final class AnswerRecorder: Recorder, StandardAnswers, LastAnswers, NumberAnswers,
  @unchecked Sendable
{
  func isReady() -> Bool { note("ready"); return id == 1 }
  func name() -> String? { note("name"); return id == 1 ? nil : "n\(id)" }
  func names() -> [String] { ["a\(id)"] }
  func bool() -> Bool { true }
  func optional() -> Int? { id }
  func array() -> [Int] { [id] }
  func implicit() -> Int! { id }
  func nothing() { note("nothing") }
  func unit() { note("unit") }
  func either() -> (any Error)? { nil }
  func closure() -> (() -> Int)? { { [id] in id } }
  func number() -> Int { id }
  func decide() -> Decision { id == 1 ? .ask : .deny }
  func values() -> [Int] { [id, id] }
  func height() -> Double { 1.5 }
  func rows() -> Int { id }
  func count() -> Int { id }
  func product() -> Int { id + 1 }
  func largest() -> Int { id }
  func text() -> String { "t\(id)" }
  func sorted() -> [Int] { [3, id] }
}

final class FirstRecorder: Recorder, FirstAnswers, JoinedAnswers, VoteAnswers, @unchecked Sendable {
  func number() -> Int { note("number"); return id }
  func decide() -> Decision { id == 1 ? .allow : .deny }
  func name() -> String? { id == 1 ? nil : "n\(id)" }
  func title() -> String? { nil }
  func values() -> [Int] { [id] }
  func table() -> [String: Int] { ["id": id] }
  func flag() -> Bool { id == 1 }
  func pair() -> (Int, String) { (id, "p") }
  func nested() -> [[Int]] { [[id]] }
  func text() -> String { "t\(id)" }
  func fallback() -> [Int] { [id] }
  func all() -> Bool { note("all"); return id == 2 }
  func any() -> Bool { note("any"); return id == 1 }
  func allOfSome() -> Bool { true }
  func anyOrNobody() -> Bool { false }
}

final class ThrowingRecorder: Recorder, Throwing, TypedThrowing, AfterAll, @unchecked Sendable {
  func check(_ failing: Int = 0) throws(Failure) {
    note("called")
    if failing == id { throw Failure(id: id) }
  }
  func start(_ id: Int) throws(Failure) { try check(id) }
  func typed(_ id: Int) throws(Failure) { try check(id) }
  func isReady() throws(Failure) -> Bool { true }
  func rows() -> Int { id }
  func name() throws(Failure) -> String? { "n" }
  func last() -> String? { "l\(id)" }
  func all() -> [Int] { [id] }
  func some() -> Bool { false }
  func total() -> Int { id }
  func values() throws(Failure) -> [Int] { try check(2); return [id] }
  func never() { note("never") }
  func any() throws {}
  func first() -> Int { id }
  func every() -> Bool { true }
}

final class InlineRecorder: Recorder, Inline, LeftOut, @unchecked Sendable {
  var note: Log?
  required init(_ id: Int, _ log: Log) { super.init(id, log) }
  convenience init(name: String) { self.init(0, Log()) }
  func receive(_ value: Log) { value.note("\(id)") }
  func keep(_ body: @escaping () -> Void) { body() }
  func log(_ values: [Int]) { note("\(values)") }
}

@Suite("Corpus: answers")
struct AnswerCorpus {
  @Test func withoutPolicy() {
    let (first, second, log) = pair(AnswerRecorder.self)
    let composite = MulticastStandardAnswers([first, second])
    #expect(!composite.isReady())
    #expect(log.take() == both("ready"))
    #expect(composite.name() == "n2")
    #expect(composite.names() == ["a1", "a2"])
    #expect(composite.bool())
    #expect(composite.optional() == 1)
    #expect(composite.array() == [1, 2])
    #expect(composite.implicit() == 1)
    #expect(composite.either() == nil)
    #expect(composite.closure()?() == 1)
    _ = log.take()
    composite.nothing()
    composite.unit()
    #expect(log.take() == both("nothing") + both("unit"))
  }

  @Test func withoutDelegates() {
    let standard = MulticastStandardAnswers()
    #expect(standard.isReady() && standard.name() == nil && standard.names().isEmpty)
    #expect(standard.implicit() == nil)
    let first = MulticastFirstAnswers()
    #expect(first.number() == 0 && first.decide() == .ask && first.title() == "none")
    #expect(
      first.values().isEmpty && first.table().isEmpty && !first.flag() && first.pair() == (0, ""))
    let last = MulticastLastAnswers()
    #expect(last.number() == -1 && last.name() == nil && last.decide() == .allow)
    let joined = MulticastJoinedAnswers()
    #expect(joined.values().isEmpty && joined.text().isEmpty && joined.fallback() == [-1])
    let votes = MulticastVoteAnswers()
    #expect(votes.all() && !votes.any() && !votes.allOfSome() && votes.anyOrNobody())
    let numbers = MulticastNumberAnswers()
    #expect(numbers.height() == 0 && numbers.rows() == 0 && numbers.count() == -1)
    #expect(numbers.product() == 1 && numbers.largest() == .min && numbers.text().isEmpty)
  }

  @Test func firstWins() {
    let (first, second, log) = pair(FirstRecorder.self)
    let composite = MulticastFirstAnswers([first, second])
    #expect(composite.number() == 1)
    #expect(log.take() == ["1 number"], "the delegates after the first are not called")
    #expect(composite.decide() == .allow)
    #expect(composite.name() == "n2")
    #expect(composite.title() == "none")
    #expect(composite.values() == [1])
    #expect(composite.table() == ["id": 1])
    #expect(composite.flag() && composite.pair() == (1, "p"))
  }

  @Test func lastWins() {
    let (first, second, _) = pair(AnswerRecorder.self)
    let composite = MulticastLastAnswers([first, second])
    #expect(composite.number() == 2)
    #expect(composite.name() == "n2")
    #expect(composite.decide() == .deny)
    #expect(composite.values() == [2, 2])
  }

  @Test func joins() {
    let (first, second, _) = pair(FirstRecorder.self)
    let composite = MulticastJoinedAnswers([first, second])
    #expect(composite.values() == [1, 2])
    #expect(composite.nested() == [[1], [2]])
    #expect(composite.text() == "t1t2")
    #expect(composite.fallback() == [1, 2])
  }

  @Test func votes() {
    let (first, second, log) = pair(FirstRecorder.self)
    let composite = MulticastVoteAnswers([first, second])
    #expect(!composite.all())
    #expect(composite.any())
    #expect(log.take() == ["1 all", "1 any"])
    #expect(composite.allOfSome())
    #expect(!composite.anyOrNobody())
  }

  @Test func adds() {
    let (first, second, _) = pair(AnswerRecorder.self)
    let composite = MulticastNumberAnswers([first, second])
    #expect(composite.height() == 3)
    #expect(composite.rows() == 3 && composite.count() == 3)
    #expect(composite.product() == 6)
    #expect(composite.largest() == 2)
    #expect(composite.text() == "t1t2")
    #expect(composite.sorted() == [1, 3, 2, 3])
  }

  @Test func firstErrorStops() throws {
    let (first, second, log) = pair(ThrowingRecorder.self)
    let composite = MulticastThrowing([first, second])
    #expect(throws: Failure(id: 1)) { try composite.start(1) }
    #expect(log.take() == ["1 called"])
    try composite.start(0)
    #expect(log.take() == both("called"))
    #expect(try composite.isReady() && composite.rows() == 3 && composite.name() == "n")
    #expect(try composite.last() == "l2" && composite.all() == [1, 2] && !composite.some())
    #expect(try composite.total() == 3)
  }

  @Test func typedErrors() throws {
    let (first, second, log) = pair(ThrowingRecorder.self)
    let composite = MulticastTypedThrowing([first, second])
    do throws(Failure) {
      try composite.start(1)
      Issue.record("no error")
    } catch {
      #expect(error.id == 1)
    }
    #expect(log.take() == ["1 called"])
    #expect(try composite.isReady() && composite.name() == "n")
    #expect(throws: Failure(id: 2)) { try composite.values() }
    composite.never()
    try composite.any()
  }

  @Test func firstErrorIsThrownAfterAll() throws {
    let (first, second, log) = pair(ThrowingRecorder.self)
    let composite = MulticastAfterAll([first, second])
    #expect(throws: Failure(id: 1)) { try composite.start(1) }
    #expect(throws: Failure(id: 1)) { try composite.typed(1) }
    #expect(log.take() == both("called") + both("called"))
    #expect(throws: Failure(id: 2)) { try composite.values() }
    #expect(try composite.rows() == 3 && composite.first() == 1 && composite.last() == "l2")
    #expect(try composite.every() && !composite.some() && composite.total() == 3)
    #expect(try MulticastAfterAll().some() && MulticastAfterAll().first() == 0)
  }

  @Test func inlineCallsTakeAnyArgument() {
    let (first, second, log) = pair(InlineRecorder.self)
    let composite = MulticastInline([first, second])
    composite.receive(log)
    var calls = 0
    composite.keep { calls += 1 }
    composite.note = log
    #expect(log.take() == ["1", "2"])
    #expect(calls == 2 && first.note === log && composite.note === log)
  }

  @Test func leavesOut() {
    let (first, second, log) = pair(InlineRecorder.self)
    let composite = MulticastLeftOut([first, second])
    composite.log(1, 2)
    #expect(log.take() == both("[1, 2]"))
    #expect(MulticastLeftOut.make() == "made" && composite.same(composite))
  }
}
