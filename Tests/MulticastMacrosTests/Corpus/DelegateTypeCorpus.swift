import MulticastMacros
import Testing

// A type of the user that is called Delegate, as the associated type of a composite is.
//
// The protocols are in another file: so the compiler meets the composites' conformances, whose
// associated type is called Delegate, before it reads the types that the composites name.

private final class DirectorRecorder: Recorder, Director, StaffChild, @unchecked Sendable {
  func manage(_ delegate: Delegate, _ others: [Delegate]) -> Bool { others.isEmpty }
  func next() async -> Delegate? { id == 1 ? nil : Delegate(number: id) }
  func all() async throws(Delegate) -> [Delegate] { [Delegate(number: id)] }
  func check() throws(Delegate) { throw Delegate(number: id) }
  func checkAll() throws(Delegate) {
    note("checkAll")
    throw Delegate(number: id)
  }
  func first() -> Delegate { Delegate(number: id) }
  var last: Delegate { get throws(Delegate) { Delegate(number: id) } }
  func part() async -> Delegate.Part { Delegate.Part(number: id) }
  func sum() -> Int { id }
  func list<T>(_ value: T) -> [Delegate] { [Delegate(number: id)] }
  func direct() {}
  func next() async -> Staff.Delegate? { id == 1 ? nil : .first }
  func first() -> Staff.Delegate { .first }
}

@Suite("Corpus: a type of the user that is called Delegate")
struct DelegateTypeCorpus {
  @Test("requirements may name it", arguments: [1, 2])
  func requirements(composite number: Int) async throws {
    let (first, second, log) = pair(DirectorRecorder.self)
    let composite: any Manager =
      number == 1 ? MulticastManager([first, second]) : MulticastDirector([first, second])
    let delegates = [Delegate(number: 1), Delegate(number: 2)]
    #expect(composite.manage(delegates[0], []) && !composite.manage(delegates[0], delegates))
    #expect(await composite.next() == delegates[1])
    #expect(try await composite.all() == delegates)
    #expect(throws: delegates[0]) { try composite.check() }
    #expect(throws: delegates[0]) { try composite.checkAll() }
    #expect(log.take() == both("checkAll"))
    #expect(composite.first() == delegates[0])
    #expect(try composite.last == delegates[1])
    #expect(await composite.part() == Delegate.Part(number: 2))
    #expect(composite.sum() == 3 && composite.list(0) == [delegates[0]])
  }

  @Test("the expressions of answers may name it", arguments: [1, 2])
  func expressions(composite number: Int) async throws {
    let composite: any Manager = number == 1 ? MulticastManager() : MulticastDirector()
    #expect(composite.first() == Delegate.none)
    #expect(try composite.last == Delegate(number: 7))
    #expect(await composite.part() == Delegate.Part())
    #expect(composite.sum() == 0 && composite.list(0) == [Delegate(number: 8)])
  }

  @Test("it may be nested", arguments: [1, 2])
  func nested(composite number: Int) async {
    let (first, second, _) = pair(DirectorRecorder.self)
    let composite: any Staff.Observer =
      number == 1
      ? Staff.MulticastObserver([first, second]) : MulticastStaffChild([first, second])
    #expect(await composite.next() == .first)
    #expect(composite.first() == .first)
    #expect(Staff.MulticastObserver().first() == .second)
    #expect(MulticastStaffChild().first() == .second)
  }
}
