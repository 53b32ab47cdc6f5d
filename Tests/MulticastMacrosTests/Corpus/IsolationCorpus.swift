import MulticastMacros
import Testing

// Isolation of the protocol or of a member.

@globalActor
actor DatabaseActor {
  static let shared = DatabaseActor()
}

@globalActor
actor Library {
  static let shared = Library()
}

@Multicast
@MainActor
protocol View: AnyObject {
  func show(_ text: String)
  func shouldClose() -> Bool
  func load() async -> [String]
  var title: String? { get set }
}

@Multicast
@MainActor
protocol SendableView: AnyObject, Sendable {
  func show(_ text: String)
  nonisolated func log(_ text: String)
  nonisolated func isReady() -> Bool
  @Answer(calls: .concurrent) func load(_ name: String) async
}

@DatabaseActor @Multicast protocol Storing: AnyObject {
  func store(_ key: String)
  func count() -> [Int]
}

@Library @Multicast protocol Lending: AnyObject, Sendable {
  func lend(_ title: String)
}

@Multicast
protocol MixedIsolation: AnyObject, Sendable {
  @MainActor func show(_ text: String)
  @MainActor var title: String? { get set }
  @DatabaseActor func store(_ key: String) async
  nonisolated func log(_ text: String)
  func plain(_ text: String)
}

@Multicast
protocol RefinedView: View {
  func hide()
}

@Multicast
protocol RefinedSendableView: SendableView {
  func hide(_ animated: Bool)
}

@Multicast
nonisolated protocol Nonisolated: AnyObject {
  func start()
}

@Multicast
@preconcurrency @MainActor
protocol Preconcurrency: AnyObject {
  func show()
}

@Multicast
@MainActor
protocol NamedView: AnyObject, CustomStringConvertible, CustomDebugStringConvertible {
  func show()
}

@Multicast
@MainActor
protocol NamedSendableView: AnyObject, Sendable, CustomStringConvertible {
  func show()
}

@Multicast
@MainActor
protocol KeyedView: AnyObject, Hashable, CustomStringConvertible {
  func show()
}

@MainActor
final class ViewRecorder: View, SendableView, RefinedView, RefinedSendableView, Preconcurrency {
  let id: Int
  let log: Log
  var title: String?
  init(_ id: Int, _ log: Log) {
    self.id = id
    self.log = log
  }
  func show(_ text: String) { log.note("\(id) \(text)") }
  func shouldClose() -> Bool { id == 1 }
  func load() async -> [String] { ["\(id)"] }
  nonisolated func log(_ text: String) { log.note("\(id) log \(text)") }
  nonisolated func isReady() -> Bool { true }
  func load(_ name: String) async { log.note("\(id) \(name)") }
  func hide() { log.note("\(id) hide") }
  func hide(_ animated: Bool) { log.note("\(id) hide \(animated)") }
  func show() { log.note("\(id) show") }
}

@DatabaseActor
final class StoreRecorder: Storing {
  private(set) var keys: [String] = []
  func store(_ key: String) { keys.append(key) }
  func count() -> [Int] { [keys.count] }
}

final class MixedRecorder: Recorder, MixedIsolation, Nonisolated, @unchecked Sendable {
  @MainActor var title: String?
  @MainActor func show(_ text: String) { note("show \(text)") }
  @DatabaseActor func store(_ key: String) async { note("store \(key)") }
  nonisolated func log(_ text: String) { note("log \(text)") }
  func plain(_ text: String) { note("plain \(text)") }
  func start() { note("start") }
}

@Suite("Corpus: isolation")
struct IsolationCorpus {
  @MainActor @Test func mainActor() async {
    let log = Log()
    let views = [ViewRecorder(1, log), ViewRecorder(2, log)]
    let composite = MulticastView(views)
    composite.show("a")
    #expect(!composite.shouldClose())
    #expect(await composite.load() == ["1", "2"])
    composite.title = "t"
    #expect(views[1].title == "t" && composite.title == "t")
    #expect(log.take() == both("a"))
    #expect(composite.count == 2 && composite.contains(views[0]))
    composite.remove(views[0])
    #expect(composite.count == 1)
  }

  @Test func sendableMainActor() async {
    let log = Log()
    let views = await [ViewRecorder(1, log), ViewRecorder(2, log)]
    let composite = await MulticastSendableView()
    for view in views { composite.add(view) }
    composite.log("x")
    #expect(composite.isReady())
    await composite.show("a")
    #expect(log.take() == both("log x") + both("a"))
    await composite.load("n")
    #expect(log.take().sorted() == both("n"))
    #expect(composite.count == 2)
  }

  @MainActor @Test func refinedMainActor() {
    let log = Log()
    let views = [ViewRecorder(1, log), ViewRecorder(2, log)]
    let composite = MulticastRefinedView(views)
    composite.show("a")
    composite.hide()
    #expect(log.take() == both("a") + both("hide"))
    let sendable = MulticastRefinedSendableView(views)
    sendable.show("b")
    sendable.hide(true)
    sendable.log("c")
    #expect(log.take() == both("b") + both("hide true") + both("log c"))
    MulticastPreconcurrency(views).show()
    #expect(log.take() == both("show"))
  }

  @Test func descriptions() async {
    let composite = await MulticastNamedView()
    let expected = await MainActor.run { composite.delegates.description }
    #expect("\(composite)" == expected)
    #expect(composite.debugDescription == composite.description)
    let sendable = await MulticastNamedSendableView()
    #expect(sendable.description == sendable.delegates.description)
  }

  @Test("the composite of an isolated protocol is equal to itself on any thread")
  func hashing() async {
    let (first, second) = await (MulticastKeyedView(), MulticastKeyedView())
    #expect(Set([first, second, first]).count == 2 && first != second)
  }

  @DatabaseActor @Test func globalActor() {
    let stores = [StoreRecorder(), StoreRecorder()]
    let composite = MulticastStoring(stores)
    composite.store("k")
    #expect(composite.count() == [1, 1])
  }

  @MainActor @Test func members() async {
    let (first, second, log) = pair(MixedRecorder.self)
    let composite = MulticastMixedIsolation([first, second])
    composite.show("a")
    composite.title = "t"
    await composite.store("k")
    composite.log("l")
    composite.plain("p")
    #expect(second.title == "t" && composite.title == "t")
    #expect(log.take() == both("show a") + both("store k") + both("log l") + both("plain p"))
    MulticastNonisolated([first, second]).start()
    #expect(log.take() == both("start"))
  }

  @MainActor @Test func adding() {
    let log = Log()
    let views = [ViewRecorder(1, log), ViewRecorder(2, log)]
    let composite = MulticastView()
    composite += views[0]
    #expect(composite.add(views[1], label: "second").isActive)
    composite.show("a")
    let refined = MulticastRefinedView()
    refined += views[0]
    refined.add(views[1])
    refined.hide()
    #expect(log.take() == both("a") + both("hide"))
    addFromAnywhere(views[0], to: MulticastRefinedSendableView())
  }

  @Test("an operator and an initializer of a composite do not know their line")
  @MainActor func unknownLines() {
    let views = [ViewRecorder(1, Log()), ViewRecorder(2, Log())]
    let composite = MulticastView([views[0]])
    composite += views[1]
    #expect(composite.delegates.snapshot.receivers.map(\.site) == [nil, nil])
    let refined = MulticastRefinedView()
    refined += views[0]
    #expect(refined.delegates.snapshot.receivers.map(\.site) == [nil])
    let (first, second, _) = pair(MixedRecorder.self)
    let mixed = MulticastMixedIsolation([first])
    mixed += second
    #expect(mixed.delegates.snapshot.receivers.map(\.site) == [nil, nil])
  }

  @Test("a delegate that is not Sendable is added by code of the composite's actor only")
  func addingElsewhere() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      await MainActor.run {
        addFromAnywhere(ViewRecorder(1, Log()), to: MulticastView())
      }
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains("add there"))
  }
}

/// Belongs to no actor, also where it runs on one.
func addFromAnywhere<C: _MulticastComposite>(_ delegate: C.Delegate, to composite: C) {
  composite.add(delegate)
}
