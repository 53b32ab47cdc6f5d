import Dispatch
import MulticastMacros
import Testing

// Requirements that suspend.

@Multicast
protocol Async: AnyObject {
  func start() async
  func load(_ name: String) async -> [String]
  func isReady() async -> Bool
  @Answer(.some) func some() async -> Bool
  func name() async -> String?
  @Answer(.last) func last() async -> String?
  @Answer(.last, default: 0) func lastNumber() async -> Int
  @Answer(.first, default: -1) func firstNumber() async -> Int
  @Answer(.sum) func sum() async -> Int
  @Answer(.sum, default: 9) func sumOrNine() async -> Int
  @Answer(.reduce(1) { $0 * $1 }) func product() async -> Int
  @Answer(.reduce(10, -)) func rest() async -> Int
  @Answer(.reduce(0, max)) func largest() async -> Int
  @Answer(.all, default: ["none"]) func all() async -> [String]
  @Answer(.all) func text() async -> String
  @Answer(.all, default: "none") func textOrNone() async -> String
  @Answer(.all) func characters() async -> Substring.UnicodeScalarView
  func change(_ value: inout Int) async
}

@Multicast
protocol AsyncThrowing: AnyObject {
  func start() async throws
  func typed() async throws(Failure)
  @Answer(errors: .afterAll) func all() async throws
  @Answer(.sum, errors: .afterAll) func sum() async throws(Failure) -> Int
  func name() async throws -> String?
  func body(_ body: () async throws -> Void) async rethrows
}

@Multicast
protocol Concurrent: AnyObject, Sendable {
  @Answer(calls: .concurrent) func start() async
  @Answer(.all, calls: .concurrent) func load(_ name: String, _ count: Int) async -> [String]
  @Answer(.sum, calls: .concurrent) func sum(_ value: Int) async throws -> Int
  @Answer(errors: .afterAll, calls: CallOrder.concurrent) func all() async throws
  @Answer(.first, calls: .concurrent) func name() async throws(Failure) -> String?
  @Answer(.every, calls: .concurrent) func ready() async -> Bool
}

@Multicast
protocol SendableAsync: AnyObject, Sendable {
  func start(_ value: Int) async
  nonisolated(nonsending) func near() async
  @concurrent func far() async
}

final class AsyncRecorder: Recorder, Async, Concurrent, SendableAsync, @unchecked Sendable {
  func start() async { note("start") }
  func load(_ name: String) async -> [String] { ["\(name)\(id)"] }
  func isReady() async -> Bool { note("ready"); return false }
  func some() async -> Bool { note("some"); return true }
  func name() async -> String? { id == 1 ? nil : "n\(id)" }
  func last() async -> String? { id == 1 ? "n1" : nil }
  func lastNumber() async -> Int { id }
  func firstNumber() async -> Int { note("first"); return id }
  func sum() async -> Int { id }
  func sumOrNine() async -> Int { id }
  func product() async -> Int { id + 1 }
  func rest() async -> Int { id }
  func largest() async -> Int { id }
  func all() async -> [String] { ["\(id)"] }
  func text() async -> String { "\(id)" }
  func textOrNone() async -> String { "\(id)" }
  func characters() async -> Substring.UnicodeScalarView { Substring("\(id)").unicodeScalars }
  func change(_ value: inout Int) async { value += id }
  func load(_ name: String, _ count: Int) async -> [String] { ["\(name)\(id)\(count)"] }
  func sum(_ value: Int) async throws -> Int { value * id }
  func all() async throws { note("all"); throw Failure(id: id) }
  func ready() async -> Bool { true }
  func start(_ value: Int) async { note("\(value)") }
  nonisolated(nonsending) func near() async { note("near") }
  @concurrent func far() async { note("far") }
}

final class AsyncThrowingRecorder: Recorder, AsyncThrowing, @unchecked Sendable {
  func start() async throws { note("start"); throw Failure(id: id) }
  func typed() async throws(Failure) { note("typed"); throw Failure(id: id) }
  func all() async throws { note("all"); throw Failure(id: id) }
  func sum() async throws(Failure) -> Int { note("sum"); return id }
  func name() async throws -> String? { "n\(id)" }
  func body(_ body: () async throws -> Void) async rethrows { try await body() }
}

@Suite("Corpus: async requirements")
struct AsyncCorpus {
  @Test("dead delegates that a call meets before it has its answer are pruned")
  func prunesBeforeTheAnswer() async {
    let (first, second, log) = pair(AsyncRecorder.self)
    let composite = MulticastAsync()
    composite.delegates.add(AsyncRecorder(3, log))
    for delegate in [first, second] { composite.delegates.add(delegate) }
    #expect(await composite.firstNumber() == 1)
    #expect(composite.delegates.prune() == 0)
    #expect(log.take() == ["1 first"])
  }

  @Test func inOrder() async {
    let (first, second, log) = pair(AsyncRecorder.self)
    let composite = MulticastAsync([first, second])
    await composite.start()
    #expect(log.take() == both("start"))
    #expect(await composite.load("x") == ["x1", "x2"])
    #expect(await composite.isReady() == false)
    #expect(await composite.some())
    #expect(log.take() == ["1 ready", "1 some"])
    #expect(await composite.name() == "n2")
    #expect(await composite.last() == "n1")
    #expect(await composite.lastNumber() == 2)
    #expect(await composite.firstNumber() == 1)
    #expect(log.take() == ["1 first"])
    #expect(await composite.sum() == 3)
    #expect(await composite.sumOrNine() == 3)
    #expect(await composite.product() == 6)
    #expect(await composite.rest() == 7)
    #expect(await composite.largest() == 2)
    #expect(await composite.all() == ["1", "2"])
    #expect(await composite.text() == "12")
    #expect(await composite.textOrNone() == "12")
    #expect(await Substring(composite.characters()) == "12")
    var value = 0
    await composite.change(&value)
    #expect(value == 3)
  }

  @Test func withoutDelegates() async throws {
    let composite = MulticastAsync()
    #expect(await composite.isReady())
    #expect(await !composite.some())
    #expect(await composite.name() == nil)
    #expect(await composite.lastNumber() == 0)
    #expect(await composite.firstNumber() == -1)
    #expect(await composite.sumOrNine() == 9)
    #expect(await composite.product() == 1)
    #expect(await composite.all() == ["none"])
    #expect(await composite.text() == "")
    #expect(await composite.textOrNone() == "none")
    #expect(await composite.characters().isEmpty)
    let concurrent = MulticastConcurrent()
    #expect(try await concurrent.sum(1) == 0)
    #expect(await concurrent.ready())
  }

  @Test func errors() async throws {
    let (first, second, log) = pair(AsyncThrowingRecorder.self)
    let composite = MulticastAsyncThrowing([first, second])
    await #expect(throws: Failure(id: 1)) { try await composite.start() }
    await #expect(throws: Failure(id: 1)) { try await composite.typed() }
    #expect(log.take() == ["1 start", "1 typed"])
    await #expect(throws: Failure(id: 1)) { try await composite.all() }
    #expect(log.take() == both("all"))
    #expect(try await composite.sum() == 3)
    #expect(try await composite.name() == "n1")
    await composite.body {}
  }

  @Test func concurrently() async throws {
    let (first, second, log) = pair(AsyncRecorder.self)
    let composite = MulticastConcurrent([first, second])
    await composite.start()
    #expect(log.take().sorted() == both("start"))
    #expect(await composite.load("x", 5) == ["x15", "x25"])
    #expect(try await composite.sum(2) == 6)
    await #expect(throws: Failure(id: 1)) { try await composite.all() }
    #expect(log.take().sorted() == both("all"))
    #expect(try await composite.name() == "n2")
    #expect(await composite.ready())
  }

  @Test func blocked() async {
    let (first, second, log) = pair(AsyncRecorder.self)
    let composite = MulticastAsync()
    let registration = composite.add(first)
    composite.add(second)
    let concurrent = MulticastConcurrent()
    let other = concurrent.add(first)
    concurrent.add(second)
    registration.block()
    other.block()
    await composite.start()
    await concurrent.start()
    #expect(log.take() == ["2 start", "2 start"])
    registration.unblock()
    other.unblock()
    await composite.start()
    #expect(log.take() == both("start"))
  }

  @Test func blockedOnAQueue() async {
    let (first, second, log) = pair(AsyncRecorder.self)
    let concurrent = MulticastConcurrent()
    concurrent.add(first, on: .global()).block()
    concurrent.add(second)
    await concurrent.start()
    #expect(log.take() == ["2 start"])
    #expect(await concurrent.load("x", 5) == ["x25"])
  }

  @Test func removedBeforeItsChildBegins() async {
    let (first, second, log) = pair(AsyncRecorder.self)
    let hub = MulticastConcurrent([first, second]).delegates
    var delegates = hub.laterDelegates()
    hub.remove(second)
    #expect(delegates.count == 2)
    #expect(delegates[0]() != nil)
    #expect(delegates[1]() == nil)
    weak var gone: AsyncRecorder?
    do {
      let third = AsyncRecorder(3, log)
      hub.add(third)
      gone = third
      delegates = hub.laterDelegates()
    }
    #expect(gone == nil)
    #expect(delegates.last?() == nil)
  }

  @Test func isolation() async {
    let (first, second, log) = pair(AsyncRecorder.self)
    let composite = MulticastSendableAsync([first, second])
    await composite.start(3)
    await composite.near()
    await composite.far()
    #expect(log.take() == both("3") + both("near") + both("far"))
  }
}
