import MulticastMacros
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
}
