import MulticastMacros
import Testing

// Parameters: ownership, closures, isolation.

@Multicast
protocol Inout: AnyObject {
  func change(_ value: inout Int)
  func change(all values: inout [Int], by amount: Int)
}

@Multicast
protocol SendableInout: AnyObject, Sendable {
  func change(_ value: inout Int)
}

@Multicast
protocol Ownership2: AnyObject {
  func borrow(_ text: borrowing String)
  func consume(_ text: consuming String)
  func send(_ text: sending String)
  func old(_ text: __owned String, _ other: __shared String)
}

@Multicast
protocol SendableOwnership: AnyObject, Sendable {
  func borrow(_ text: borrowing String)
  func consume(_ text: consuming String)
  func send(_ text: sending String)
}

struct Ticket: ~Copyable {
  let number: Int
}

@Multicast
protocol Noncopyable: AnyObject {
  func check(_ ticket: borrowing Ticket)
  func change(_ ticket: inout Ticket)
  func generic<T: ~Copyable>(_ value: borrowing T)
}

/// Values that can be copied, of which a closure cannot capture each that is borrowed.
@Multicast
protocol Borrowing<Item>: AnyObject {
  associatedtype Item
  func generic<T>(_ value: borrowing T)
  func later<T: Sendable>(_ value: borrowing T?) async -> T?
  func some(_ values: borrowing some Collection<Int>, _ other: borrowing some ~Copyable)
  func any(_ value: borrowing any Sendable, _ other: borrowing (any Sendable)?)
  func item(_ item: borrowing Item, _ pair: borrowing (Self.Item, Int))
  func member<T: Collection>(of values: borrowing T, _ member: borrowing T.Element)
  func mixed<T: Sendable & ~Copyable, U>(_ value: borrowing T, _ other: borrowing U)
}

@Multicast
protocol BorrowingChild<Item>: Borrowing {}

@Multicast
protocol Spans: AnyObject, Sendable {
  func read(_ numbers: Span<Int>)
  func readBytes(_ bytes: Swift.RawSpan) -> Bool
}

@Multicast
protocol KeywordLabels: AnyObject, Sendable {
  func move(`let` value: Int, `inout` other: Int, `var`: [Int])
}

@Multicast
protocol Closures: AnyObject {
  func call(_ body: () -> Void)
  func keep(_ body: @escaping (Int) -> String)
  func `throws`(_ body: (Int) throws -> Void) rethrows
  func typed<E>(_ body: () throws(E) -> Void) throws(E)
  func optional(_ body: ((Int) -> Void)?)
  func async(_ body: @escaping () async throws -> Int)
  func main(_ body: @escaping @MainActor () -> Void)
  func higher(_ body: @escaping (@escaping (Int) -> Void) -> Void)
  func convention(_ body: @convention(thin) () -> Void)
}

@Multicast
protocol SendableClosures: AnyObject, Sendable {
  func call(_ body: () -> Void)
  func keep(_ body: @escaping @Sendable (Int) -> Void)
  func both(_ count: Int, then body: @Sendable @escaping () -> Void)
  func optional(_ body: (@Sendable () -> Void)?)
  func main(_ body: @escaping @MainActor () -> Void)
  func database(_ body: @escaping @DatabaseActor () -> Void)
}

@Multicast
protocol Autoclosures: AnyObject {
  func log(_ message: @autoclosure () -> String)
  func keep(_ message: @autoclosure @escaping () -> String)
  func attempt(_ message: @autoclosure () throws -> String) rethrows
}

@Multicast
protocol IsolatedParameters: AnyObject {
  func run(isolation: isolated (any Actor)?)
  func main(on actor: isolated MainActor, _ value: Int)
}

@Multicast
protocol Results: AnyObject {
  func finish(_ result: Result<Int, any Error>)
  func finish(with result: Result<[String: Int], CancellationError>?, at path: KeyPath<String, Int>)
}

final class ParameterRecorder: Recorder, Inout, SendableInout, Ownership2, SendableOwnership,
  Noncopyable,
  Closures, SendableClosures, Autoclosures, Results, BorrowingChild, @unchecked Sendable
{
  func change(_ value: inout Int) { value += id }
  func change(all values: inout [Int], by amount: Int) { values.append(amount * id) }
  func borrow(_ text: borrowing String) { note("borrow \(copy text)") }
  func consume(_ text: consuming String) { note("consume \(text)") }
  func send(_ text: sending String) { note("send \(text)") }
  func old(_ text: __owned String, _ other: __shared String) { note("old \(text)\(other)") }
  func check(_ ticket: borrowing Ticket) { note("ticket \(ticket.number)") }
  func change(_ ticket: inout Ticket) { ticket = Ticket(number: ticket.number + id) }
  func generic<T: ~Copyable>(_ value: borrowing T) { note("generic") }
  func generic<T>(_ value: borrowing T) { note("generic") }
  func later<T: Sendable>(_ value: borrowing T?) async -> T? { copy value }
  func some(_ values: borrowing some Collection<Int>, _ other: borrowing some ~Copyable) {
    note("some \(values.count)")
  }
  func any(_ value: borrowing any Sendable, _ other: borrowing (any Sendable)?) {
    note("any \(copy value)")
  }
  func item(_ item: borrowing String, _ pair: (String, Int)) {
    note("item \(copy item) \(pair.1)")
  }
  func member<T: Collection>(of values: borrowing T, _ member: borrowing T.Element) {
    note("member of \(values.count)")
  }
  func mixed<T: Sendable & ~Copyable, U>(_ value: borrowing T, _ other: borrowing U) {
    note("mixed")
  }
  func call(_ body: () -> Void) { body() }
  func keep(_ body: @escaping (Int) -> String) { note(body(id)) }
  func `throws`(_ body: (Int) throws -> Void) rethrows { try body(id) }
  func typed<E>(_ body: () throws(E) -> Void) throws(E) { try body() }
  func optional(_ body: ((Int) -> Void)?) { body?(id) }
  func async(_ body: @escaping () async throws -> Int) { note("async") }
  func database(_ body: @escaping @DatabaseActor () -> Void) { note("database") }
  func main(_ body: @escaping @MainActor () -> Void) { note("main") }
  func higher(_ body: @escaping (@escaping (Int) -> Void) -> Void) { body { self.note("\($0)") } }
  func convention(_ body: @convention(thin) () -> Void) { note("thin") }
  func keep(_ body: @escaping @Sendable (Int) -> Void) { body(id) }
  func both(_ count: Int, then body: @Sendable @escaping () -> Void) { note("\(count)"); body() }
  func optional(_ body: (@Sendable () -> Void)?) { body?() }
  func log(_ message: @autoclosure () -> String) { note(message()) }
  func keep(_ message: @autoclosure @escaping () -> String) { note("kept " + message()) }
  func attempt(_ message: @autoclosure () throws -> String) rethrows { note(try message()) }
  func finish(_ result: Result<Int, any Error>) { note("\((try? result.get()) ?? 0)") }
  func finish(with result: Result<[String: Int], CancellationError>?, at path: KeyPath<String, Int>)
  {
    note("abc"[keyPath: path].description)
  }
}

final class IsolationRecorder: Recorder, IsolatedParameters, @unchecked Sendable {
  func run(isolation: isolated (any Actor)?) { note("run") }
  func main(on actor: isolated MainActor, _ value: Int) { note("\(value)") }
}

final class SpanRecorder: Recorder, Spans, KeywordLabels, @unchecked Sendable {
  func read(_ numbers: Span<Int>) { note("\(numbers.count)") }
  func readBytes(_ bytes: RawSpan) -> Bool { bytes.byteCount == 16 }
  func move(`let` value: Int, `inout` other: Int, `var` values: [Int]) {
    note("\(value) \(other) \(values)")
  }
}

@Suite("Corpus: parameters")
struct ParameterCorpus {
  let first: ParameterRecorder
  let second: ParameterRecorder
  let log: Log

  init() {
    (first, second, log) = pair(ParameterRecorder.self)
  }

  @Test func passesInout() {
    var value = 10
    MulticastInout([first, second]).change(&value)
    MulticastSendableInout([first, second]).change(&value)
    #expect(value == 16)
    var values = [0]
    MulticastInout([first, second]).change(all: &values, by: 5)
    #expect(values == [0, 5, 10])
  }

  @Test func passesOwnership() {
    let composite = MulticastOwnership2([first, second])
    composite.borrow("a")
    composite.consume("b")
    composite.send("c")
    composite.old("d", "e")
    #expect(log.take() == both("borrow a") + both("consume b") + both("send c") + both("old de"))
    let sendable = MulticastSendableOwnership([first, second])
    sendable.borrow("a")
    sendable.consume("b")
    sendable.send("c")
    #expect(log.take() == both("borrow a") + both("consume b") + both("send c"))
  }

  @Test(arguments: [1, 2])
  func passesBorrowedValues(composite number: Int) async {
    let composite: any Borrowing<String> =
      number == 1
      ? MulticastBorrowing<String>([first, second])
      : MulticastBorrowingChild<String>([first, second])
    composite.generic(1)
    composite.some([1, 2], Ticket(number: 1))
    composite.any(3, nil)
    composite.item("a", ("b", 4))
    composite.member(of: [5], 5)
    composite.mixed(Ticket(number: 1), 6)
    #expect(await composite.later(7) == 7)
    #expect(
      log.take() == both("generic") + both("some 2") + both("any 3") + both("item a 4")
        + both("member of 1") + both("mixed"))
  }

  @Test func passesNoncopyableValues() {
    let composite = MulticastNoncopyable([first, second])
    var ticket = Ticket(number: 7)
    composite.check(ticket)
    composite.change(&ticket)
    composite.generic(ticket)
    #expect(ticket.number == 10)
    #expect(log.take() == both("ticket 7") + both("generic"))
  }

  @Test func passesSpans() {
    let (first, second, log) = pair(SpanRecorder.self)
    let composite = MulticastSpans([first, second])
    let numbers = [1, 2]
    composite.read(numbers.span)
    let isRead = composite.readBytes(numbers.span.bytes)
    #expect(isRead)
    #expect(log.take() == both("2"))
  }

  @Test func passesKeywordLabels() {
    let (first, second, log) = pair(SpanRecorder.self)
    MulticastKeywordLabels([first, second]).move(let: 1, `inout`: 2, var: [3])
    #expect(log.take() == both("1 2 [3]"))
  }

  @Test func passesClosures() throws {
    let composite = MulticastClosures([first, second])
    var calls = 0
    composite.call { calls += 1 }
    composite.keep { "kept \($0)" }
    composite.throws { calls += $0 }
    composite.typed { calls += 10 }
    composite.optional { calls += $0 * 100 }
    composite.higher { $0(4) }
    #expect(calls == 325)
    #expect(log.take() == ["1 kept 1", "2 kept 2", "1 4", "2 4"])
    #expect(throws: CancellationError.self) {
      try composite.throws { _ in throw CancellationError() }
    }
    let sendable = MulticastSendableClosures([first, second])
    let log = log
    sendable.keep { log.note("\($0)") }
    sendable.both(3) { log.note("then") }
    sendable.optional(nil)
    sendable.database {}
    #expect(
      log.take() == ["1", "2", "1 3", "then", "2 3", "then"] + both("database"))
  }

  @Test func passesAutoclosures() throws {
    let composite = MulticastAutoclosures([first, second])
    var evaluations = 0
    func message() -> String {
      evaluations += 1
      return "\(evaluations)"
    }
    composite.log(message())
    composite.attempt(message())
    #expect(log.take() == ["1 1", "2 2", "1 3", "2 4"])
    composite.keep("k")
    #expect(log.take() == both("kept k"))
  }

  @Test func passesIsolation() async {
    let (first, second, log) = pair(IsolationRecorder.self)
    let composite = MulticastIsolatedParameters([first, second])
    composite.run(isolation: nil)
    #expect(log.take() == both("run"))
  }

  @Test func passesResults() {
    let composite = MulticastResults([first, second])
    composite.finish(.success(3))
    composite.finish(with: nil, at: \.count)
    #expect(log.take() == both("3") + both("3"))
  }
}
