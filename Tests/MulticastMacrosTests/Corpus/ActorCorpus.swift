import Dispatch
import MulticastMacros
import MulticastTestSupport
import Testing

// Protocols of actors.

struct Money: Sendable {
  let amount: Int
}

@Multicast
protocol Account: Actor {
  func book(_ amount: Int)
  func pay(_ money: Money, to name: String)
  func close()
  func balances() async -> [Int]
  @Answer(.sum) func total(_ money: Money, _ factor: Int) async throws -> Int
  @Answer(.sum, calls: .concurrent) func fastTotal(_ money: Money) async -> Int
  nonisolated func log(_ text: String)
  nonisolated func isKnown() -> Bool
  var isOpen: Bool { get async }
  func raise(_ value: inout Int) async
}

@Multicast
protocol SavingsAccount: Account, Actor {
  func addInterest(_ rate: Double)
}

/// Synchronous requirements with an overload that is `async`: of the protocol, and of an extension.
/// `nonisolated`, which no actor may be, says nothing about a protocol of actors.
@Multicast
nonisolated protocol Machine<Part>: Actor {
  associatedtype Part: Sendable
  func stop()
  func stop() async
  func load(_ count: Int)
  func load(_ count: Int) async
  func load(_ part: Part, delegate: some Sendable, arguments: Money)
  func load(_ part: Part, delegate: some Sendable, arguments: Money) async
  func clean()
}

extension Machine {
  func clean() async { Issue.record("the async overload of an extension was called") }
}

@Multicast
protocol FastMachine<Part>: Machine, Actor where Part: Sendable {}

private actor MachineRecorder: FastMachine {
  let log: Log

  init(_ log: Log) { self.log = log }

  func stop() { log.note("stop") }
  func stop() async { log.note("async stop") }
  func load(_ count: Int) { log.note("load \(count)") }
  func load(_ count: Int) async { log.note("async load \(count)") }
  func load(_ part: String, delegate: some Sendable, arguments: Money) {
    log.note("load \(part) \(delegate) \(arguments.amount)")
  }
  func load(_ part: String, delegate: some Sendable, arguments: Money) async {
    log.note("async load \(part) \(delegate) \(arguments.amount)")
  }
  func clean() { log.note("clean") }
}

/// Calls the synchronous overloads, which a synchronous function does.
private func work(_ machine: isolated some Machine<String>) {
  machine.stop()
  machine.load(1)
  machine.load("a", delegate: 2, arguments: Money(amount: 3))
  machine.clean()
}

actor AccountRecorder: SavingsAccount {
  let id: Int
  let log: Log
  private var total = 0

  init(_ id: Int, _ log: Log) {
    self.id = id
    self.log = log
  }

  func book(_ amount: Int) {
    total += amount
    log.note("\(id) book \(amount)")
  }
  func pay(_ money: Money, to name: String) { log.note("\(id) \(money.amount) \(name)") }
  func close() { log.note("\(id) close") }
  func balances() -> [Int] { [total] }
  func total(_ money: Money, _ factor: Int) throws -> Int { money.amount * factor }
  func fastTotal(_ money: Money) -> Int { money.amount }
  nonisolated func log(_ text: String) { log.note("\(id) \(text)") }
  nonisolated func isKnown() -> Bool { id == 1 }
  var isOpen: Bool { true }
  func raise(_ value: inout Int) { value += id }
  func addInterest(_ rate: Double) { log.note("\(id) \(rate)") }
}

@MainActor
private final class CountingView: SendableView {
  private(set) var shown: [String] = []
  private let finish: AsyncStream<Void>.Continuation
  init(_ finish: AsyncStream<Void>.Continuation) { self.finish = finish }
  func show(_ text: String) {
    MainActor.assertIsolated()
    shown.append(text)
    finish.yield()
  }
  nonisolated func log(_ text: String) {}
  nonisolated func isReady() -> Bool { true }
  func load(_ name: String) async {}
}

@Suite("Corpus: actors, and calls from anywhere")
struct ActorCorpus {
  @Test("calls without an answer are delivered to each actor, in order")
  func calls() async {
    let log = Log()
    let accounts = [AccountRecorder(1, log), AccountRecorder(2, log)]
    let composite = MulticastAccount(accounts)
    await composite.book(3)
    await composite.pay(Money(amount: 5), to: "x")
    await composite.close()
    // A call that is awaited may overtake calls that are enqueued.
    await composite.delegates.flush()
    let lines = log.take()
    #expect(lines.filter { $0.hasPrefix("1") } == ["1 book 3", "1 5 x", "1 close"])
    #expect(lines.filter { $0.hasPrefix("2") } == ["2 book 3", "2 5 x", "2 close"])
  }

  @Test func answers() async throws {
    let log = Log()
    let accounts = [AccountRecorder(1, log), AccountRecorder(2, log)]
    let composite = MulticastAccount(accounts)
    #expect(await composite.balances() == [0, 0])
    #expect(try await composite.total(Money(amount: 2), 3) == 12)
    #expect(await composite.fastTotal(Money(amount: 2)) == 4)
    #expect(await composite.isOpen)
    #expect(!composite.isKnown())
    composite.log("x")
    #expect(log.take() == both("x"))
    var value = 0
    await composite.raise(&value)
    #expect(value == 3)
  }

  @Test func refined() async {
    let log = Log()
    let account = AccountRecorder(1, log)
    let composite = MulticastSavingsAccount([account])
    await composite.book(1)
    await composite.addInterest(0.5)
    await composite.delegates.flush()
    #expect(log.take() == ["1 book 1", "1 0.5"])
  }

  @Test("a synchronous requirement calls no async overload")
  func overloads() async {
    let log = Log()
    let machine = MachineRecorder(log)
    let composite = MulticastMachine<String>([machine])
    let refining = MulticastFastMachine<String>([machine])
    await work(composite)
    await composite.delegates.flush()
    #expect(log.take() == ["stop", "load 1", "load a 2 3", "clean"])
    await work(refining)
    await refining.delegates.flush()
    #expect(log.take() == ["stop", "load 1", "load a 2 3", "clean"])
    await composite.stop()
    await refining.load(4)
    await composite.load("a", delegate: 2, arguments: Money(amount: 3))
    #expect(log.take() == ["async stop", "async load 4", "async load a 2 3"])
  }

  @Test("invoke calls on the actor of the delegates, from anywhere")
  func invokeFromAnywhere() async {
    let log = Log()
    let account = AccountRecorder(1, log)
    let accounts = MulticastAccount([account])
    accounts.invoke { $0.book(7) }
    accounts.delegates ~> { $0.book(8) }
    await accounts.delegates.flush()
    #expect(log.take() == ["1 book 7", "1 book 8"])

    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    let view = await CountingView(continuation)
    let composite = await MulticastSendableView([view])
    await Task.detached {
      composite.invoke { $0.show("a") }
      composite.delegates ~> { $0.show("b") }
    }.value
    var iterator = stream.makeAsyncIterator()
    await iterator.next()
    await iterator.next()
    #expect(await view.shown == ["a", "b"])
  }

  @Test("the delegates of a composite are not kept by it, nor is the composite by itself")
  func lifetimes() async {
    weak var weakAccount: AccountRecorder?
    weak var weakComposite: MulticastAccount?
    do {
      let account = AccountRecorder(1, Log())
      let composite = MulticastAccount([account])
      weakAccount = account
      weakComposite = composite
      #expect(composite.count == 1)
    }
    #expect(weakAccount == nil)
    #expect(weakComposite == nil)
  }

  @Test("a delegate with a queue is called on the queue")
  func queues() async {
    let (first, second, log) = pair(SendableChildRecorder.self)
    let composite = MulticastSendableChild()
    composite.add(first)
    let queue = DispatchQueue(label: "queue")
    composite.add(second, on: queue)
    queue.suspend()
    composite.receive(1)  // inherited
    composite.send(2)
    #expect(log.take() == ["1 receive 1", "1 send 2"])
    queue.resume()
    await composite.delegates.flush()
    #expect(log.take() == ["2 receive 1", "2 send 2"])
  }

  @Test("a delegate with a queue is called on it also with arguments of other types")
  func queuesWithArguments() async {
    let (first, second, log) = pair(InheritingRecorder.self)
    let composite = MulticastInheritedTwice()
    composite.add(first)
    let queue = DispatchQueue(label: "queue")
    composite.add(second, on: queue)
    queue.suspend()
    composite.send(Payload(value: 2), to: "x")
    composite.sendGeneric(4)
    composite.payload = Payload(value: 5)
    #expect(log.take() == ["1 2 x", "1 4"])
    queue.resume()
    await composite.delegates.flush()
    #expect(log.take() == ["2 2 x", "2 4"])
    #expect(second.payload?.value == 5)
  }

  @Test("a composite does not keep its weak delegates, and keeps its strong ones")
  func ownership() {
    let tracker = LifetimeTracker()
    do {
      let composite = MulticastPlain()
      do {
        let weak = TrackedPlain(tracker)
        composite.add(weak)
        composite.add(TrackedPlain(tracker), ownership: .strong)
        #expect(composite.count == 2)
      }
      #expect(composite.count == 1)
      composite.start()
    }
    #expect(tracker.created == 2)
    #expect(tracker.destroyed == 2)
  }

  @Test("composites nest")
  func nesting() {
    let (first, second, log) = pair(FunctionRecorder.self)
    let inner = MulticastPlain([first, second])
    let outer = MulticastPlain([inner, first], storage: .locked, duplicates: .allow)
    outer.add(first)
    outer.start()
    #expect(log.take() == ["1 start", "2 start", "1 start", "1 start"])
  }
}

private final class TrackedPlain: Plain {
  private let tracker: LifetimeTracker

  init(_ tracker: LifetimeTracker) {
    self.tracker = tracker
    tracker.noteCreation()
  }

  deinit { tracker.noteDestruction() }

  func start() {}
}
