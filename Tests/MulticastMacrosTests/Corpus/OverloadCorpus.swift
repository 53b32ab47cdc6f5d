import MulticastMacros
import Testing

// Requirements that differ in their results only.

struct OverloadError: Error {}

@Multicast
protocol OptionalOverloads: AnyObject, Sendable {
  @Answer(.first, default: 0) func first() -> Int
  func first() -> Int?
  @Answer(.last, default: 0) func last() -> Int
  @Answer(.last) func last() -> Int?
  @Answer(.first, default: 0) func attempt() throws -> Int
  func attempt() throws -> Int?
  @Answer(.last, default: 0) func typed() throws(OverloadError) -> Int
  @Answer(.last) func typed() throws(OverloadError) -> Int?
  @Answer(.first, default: 0, errors: .afterAll) func all() throws -> Int
  @Answer(errors: .afterAll) func all() throws -> Int?
  @Answer(.last, default: 0, errors: .afterAll) func typedAll() throws(OverloadError) -> Int
  @Answer(.last, errors: .afterAll) func typedAll() throws(OverloadError) -> Int?
  @Answer(.first, default: 0) func later() async -> Int
  func later() async -> Int?
  @Answer(.last, default: 0, errors: .afterAll) func allLater() async throws -> Int
  @Answer(.last, errors: .afterAll) func allLater() async throws -> Int?
  @Answer(.last, default: 0, calls: .concurrent) func atOnce() async -> Int
  @Answer(.last, calls: .concurrent) func atOnce() async -> Int?
  @Answer(.first, default: 0) subscript(_ text: String) -> Int { get }
  subscript(_ text: String) -> Int? { get }
}

@Multicast
protocol RefinedOverloads: OptionalOverloads {}

/// Calls with an answer, and calls without one.
@Multicast
protocol VoidOverloads: AnyObject, Sendable {
  func write(_ line: Int)
  @Answer(.sum) func write(_ line: Int) -> Int
  func attempt(_ line: Int) throws
  @Answer(.sum) func attempt(_ line: Int) throws -> Int
  func later(_ line: Int) async
  @Answer(.sum) func later(_ line: Int) async -> Int
  @Answer(errors: .afterAll) func all(_ line: Int) async throws
  @Answer(.sum, errors: .afterAll) func all(_ line: Int) async throws -> Int
  @Answer(calls: .concurrent) func atOnce(_ line: Int) async
  @Answer(.sum, calls: .concurrent) func atOnce(_ line: Int) async -> Int
}

private final class OverloadRecorder: Recorder, RefinedOverloads, @unchecked Sendable {
  func first() -> Int { id }
  func first() -> Int? { 10 * id }
  func last() -> Int { id }
  func last() -> Int? { 10 * id }
  func attempt() throws -> Int { id }
  func attempt() throws -> Int? { 10 * id }
  func typed() throws(OverloadError) -> Int { id }
  func typed() throws(OverloadError) -> Int? { 10 * id }
  func all() throws -> Int { id }
  func all() throws -> Int? { 10 * id }
  func typedAll() throws(OverloadError) -> Int { id }
  func typedAll() throws(OverloadError) -> Int? { 10 * id }
  func later() async -> Int { id }
  func later() async -> Int? { 10 * id }
  func allLater() async throws -> Int { id }
  func allLater() async throws -> Int? { 10 * id }
  func atOnce() async -> Int { id }
  func atOnce() async -> Int? { 10 * id }
  subscript(_ text: String) -> Int { id }
  subscript(_ text: String) -> Int? { 10 * id }
}

private final class VoidRecorder: Recorder, VoidOverloads, @unchecked Sendable {
  func write(_ line: Int) { note("write \(line)") }
  func write(_ line: Int) -> Int { line }
  func attempt(_ line: Int) throws { note("attempt \(line)") }
  func attempt(_ line: Int) throws -> Int { line }
  func later(_ line: Int) async { note("later \(line)") }
  func later(_ line: Int) async -> Int { line }
  func all(_ line: Int) async throws { note("all \(line)") }
  func all(_ line: Int) async throws -> Int { line }
  func atOnce(_ line: Int) async { note("at once \(line)") }
  func atOnce(_ line: Int) async -> Int { line }
}

@Suite("Corpus: overloads that differ in their results")
struct OverloadCorpus {
  @Test("a call reaches the requirement with its own result", arguments: [1, 2])
  func optionals(composite number: Int) async throws {
    let (first, second, _) = pair(OverloadRecorder.self)
    let composite: any OptionalOverloads =
      number == 1
      ? MulticastOptionalOverloads([first, second]) : MulticastRefinedOverloads([first, second])
    let numbers: [Int] = [
      composite.first(), composite.last(), try composite.attempt(), try composite.typed(),
      try composite.all(), try composite.typedAll(), await composite.later(),
      try await composite.allLater(), await composite.atOnce(), composite[""],
    ]
    #expect(numbers == [1, 2, 1, 2, 1, 2, 1, 2, 2, 1])
    let optionals: [Int?] = [
      composite.first() as Int?, composite.last() as Int?, try composite.attempt() as Int?,
      try composite.typed() as Int?, try composite.all() as Int?, try composite.typedAll() as Int?,
      await composite.later() as Int?, try await composite.allLater() as Int?,
      await composite.atOnce() as Int?, composite[""] as Int?,
    ]
    #expect(optionals == [10, 20, 10, 20, 10, 20, 10, 20, 20, 10])
  }

  @Test("a call without an answer reaches the requirement without one")
  func withoutAnswer() async throws {
    let (first, second, log) = pair(VoidRecorder.self)
    let composite = MulticastVoidOverloads([first, second])
    let _: () = composite.write(1)
    let _: () = try composite.attempt(2)
    let _: () = await composite.later(3)
    let _: () = try await composite.all(4)
    #expect(log.take() == both("write 1") + both("attempt 2") + both("later 3") + both("all 4"))
    let _: () = await composite.atOnce(5)
    #expect(log.take().sorted() == both("at once 5"))
    let answers: [Int] = [
      composite.write(1), try composite.attempt(2), await composite.later(3),
      try await composite.all(4), await composite.atOnce(5),
    ]
    #expect(answers == [2, 4, 6, 8, 10])
  }
}
