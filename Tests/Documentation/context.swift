// What the examples in the doc comments of the sources use and do not declare.
// `Tests/Documentation/check` compiles each of them as the body of a function, below these
// declarations.
//
// A declaration that only the examples of one source need is in its section `// In FILE`, in the
// scope of the example. Examples that begin with `extension` or with `@Multicast protocol` are
// compiled at file scope, where the compiler requires them.

import ConcurrencyStress
import ConcurrencyStressTesting
import Dispatch
import Multicast
import MulticastMacros
import Testing

// MARK: Events

typealias Symbol = String

struct Price: Sendable {
  var symbol: Symbol
  var value: Double
  init(_ symbol: Symbol, _ value: Double) { (self.symbol, self.value) = (symbol, value) }
  init(_ value: Double) { self.init("tea", value) }
}

struct Message: Sendable {
  var text: String
}

let price = Price(42)
let message = Message(text: "hello")
let last = EventPosition("1f6c0e5a93b1d27c-42")!

func show(_ item: some Any, _ position: EventPosition? = nil) {}
func store(_ item: some Any) async {}
func warn(_ text: String) {}

// MARK: Hubs

let prices = EventHub<Price>()
let hub = EventHub<Price>()
let chat = EventHub<Message>(retention: .last(10))
let rooms = TopicHub<String, Message>(retention: .last(10))
let channels = TopicHub<String, Message>()
let quotes = TopicHub<String, Price>()
let queue = DispatchQueue(label: "queue")

// MARK: Delegates

nonisolated protocol FileDelegate: AnyObject, Sendable {
  func didFinish(_ file: String)
  func willClose() throws(Veto)
}

protocol ProgressReporting { func report(_ progress: Double) }

@MainActor protocol StatusDelegate: AnyObject, Sendable { func show(_ text: String) }

protocol Account: Actor {}

struct Veto: Error {}

// MARK: Tested code

nonisolated final class Queue: Sendable {
  func enqueue(_ element: Int) {}
  func dequeue() -> Int? { nil }
}

nonisolated final class Cell: Sendable {
  var value: Int { 2 }
  func increment() {}
}

// In AsyncSequence+Multicast.swift
let feed = AsyncStream<Price> { $0.finish() }

// In EventHub+Completion.swift
struct ConnectionLost: Error {}

// In EventHub+Flush.swift
let event = price
let view = (text: "hello", 0)

// In EventHub+Subscribers.swift
let event = price
struct Source { var isPaused = false }
var source = Source()

// In EventHub+SubscribingFrom.swift
let showGap: @Sendable (Int?) -> Void = { _ in }

// In EventHub+TrySend.swift
let frame = price
func skip(_ frame: Price) {}

// In EventHub+Events.swift
func write(_ message: Message, id: String) async {}
func writeGap(_ count: Int?) async {}

// In EventHub+Value.swift
enum slider { static func show(_ level: Double) {} }

// In EventHub.swift
enum chart { static func add(_ price: Price) {} }

// In EventSequence+Batches.swift
enum database { static func insert(_ prices: [Price]) {} }

// In EventSequence+Polling.swift
var iterator = prices.events().makeAsyncIterator()
func showDelay() {}

// In EventSubscription+Blocking.swift
let subscription = prices.subscribe { show($0) }
let own = price

// In EventSubscription+Storing.swift
let hub = prices

// In PositionedSequence+Batches.swift
let saved = last
enum database {
  static func insert(_ messages: [Message], through position: EventPosition) async {}
}

// In SubscriberOption+Carrying.swift
let hub = prices
nonisolated struct Log { func callAsFunction(_ price: Price, trace: String?) {} }
let log = Log()

// In SubscriberOption+Duplicates.swift
let hub = EventHub<Int>()

// In SubscriberOption+Interceptor.swift
let signposted: @Sendable (() -> Void) -> Void = { $0() }

// In SubscriberOption+Limit.swift
let buy: @Sendable (Price) -> Void = { _ in }

// In MulticastActor+Concurrent.swift
protocol Table: Actor { func store(_ row: Int) async throws -> Int }
let hub = MulticastActor<any Table>()
let row = 1

// In MulticastActor+DelegateResults.swift
protocol Table: Actor {
  func store(_ row: Int) async throws -> Int
  func reconnect() async
}
let hub = MulticastActor<any Table>()
let row = 1

// In MulticastActor+Invoke.swift
protocol Window: Actor { func willClose() async throws(Veto) }
let hub = MulticastActor<any Window>()

// In MulticastActor.swift
actor Store: UploadDelegate { func didStore(_ key: String) async throws {} }
let (index, audit) = (Store(), Store())

// In MulticastDelegate+DelegateResults.swift
let delegates = MulticastDelegate<any FileDelegate>()

// In MulticastDelegate+Delivery.swift
let hub = MulticastDelegate<any FileDelegate>()

// In MulticastDelegate+Isolation.swift
let hub = MulticastDelegate<any StatusDelegate>()

// In MulticastDelegate.swift
final class Listener: DownloadDelegate { func didFinish(_ file: String) {} }
let (logger, index) = (Listener(), Listener())

// In Registration+Blocking.swift
final class Model: Sendable { nonisolated(unsafe) var value = 0.5 }
let (model, slider) = (Model(), Model())
let registration = MulticastDelegate<Model>().add(model)

// In Registration.swift
final class Logger: Sendable { func close() {} }
let logger = Logger()
let hub = MulticastDelegate<Logger>()

// In ScopedRegistration.swift
typealias DownloadDelegate = FileDelegate

// In EventPosition.swift
let position = last

// In StateHub.swift
enum table { static func show(_ item: some Any) {} }

// In StateSequence.swift
let board = StateHub([Symbol: Double]()) { (prices: inout [Symbol: Double], price: Price) in }
var copy: [Symbol: Double] = [:]
nonisolated struct Balance: Sendable { var total = 0.0 }
let account = StateHub(Balance()) { (balance: inout Balance, amount: Double) in }
enum label { static func show(_ total: Double) {} }

// In TopicHub+ExternalLog.swift
struct BrokerLog: ExternalLog {
  init(_ connection: Int, delivering writer: ExternalLogWriter<Price>) {}
  func page(
    of topics: [String], after position: EventPosition, through last: UInt64
  ) async -> ExternalPage<Price>? { nil }
  func contains(_ position: EventPosition) async -> Bool? { nil }
}
let connection = 1

// In TopicHub+PatternEvents.swift
let sensors = TopicHub<String, Int>()

// In TopicHub+PositionedEvents.swift
func write(_ message: TopicEvent<String, Message>, _ position: EventPosition) async {}
func writeGap(_ range: MissedEvents, _ topic: String?) async {}

// In TopicHub+Readers.swift
nonisolated struct EventLoop: Sendable { func execute(_ work: @Sendable () -> Void) {} }
let loop = EventLoop()
let readMore: @Sendable () -> Void = {}
struct Connection {
  var isWritable: Bool { true }
  func write(_ element: some Any) {}
}
let connection = Connection()

// In TopicHub+SubscribingFrom.swift
let showGap: @Sendable (Int?, String?) -> Void = { _, _ in }

// In TopicHub+SubscribingPatternsFrom.swift
let show: @Sendable (String, Message) -> Void = { _, _ in }

// In TopicHub+SubscribingPattern.swift
let orders = TopicHub<String, Price>()

// In TopicPattern.swift
let input = "sensors.>"

// In StressProgram.swift
static let queueTest = LinearizabilityTest({ Queue() }, model: [Int]())

// In Scenario.swift
struct CountingRound: ScenarioRound {
  init(_ trial: Trial) {}
  func work(_ worker: inout Worker) {}
  func check() {}
}

// In ScheduleTest.swift
actor Account {
  var balance: Int
  init(balance: Int) { self.balance = balance }
  func withdraw(_ amount: Int) async {}
}

// In ScheduleTrait.swift
actor Account {
  var balance: Int
  init(balance: Int) { self.balance = balance }
  func withdraw(_ amount: Int) async {}
}

// In Perturbation.swift
let node = (next: 1, 0)
struct Top { func compareExchange(_ expected: Any, _ desired: Int) -> Bool { true } }
let top = Top()

// In Multicast.swift
final class Logger: DownloadDelegate {
  func didFinish(_ file: String) {}
  func shouldStart(_ file: String) -> Bool { true }
}
let logger = Logger()
final class Downloader { var delegate: (any DownloadDelegate)? }
let downloader = Downloader()
