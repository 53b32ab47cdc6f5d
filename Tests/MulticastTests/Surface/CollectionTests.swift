import Multicast
import MulticastTestSupport
import Testing

@Suite("A hub as a collection, its operators and descriptions")
struct CollectionTests {
  private func makeHub(
    _ storage: StorageStrategy, count: Int = 4
  ) -> (hub: MulticastDelegate<any Observing>, delegates: [RecordingObserver]) {
    let delegates = (0..<count).map { RecordingObserver($0) }
    let hub = MulticastDelegate<any Observing>(storage: storage)
    for delegate in delegates { hub += delegate }
    return (hub, delegates)
  }

  @Test("count, isEmpty and contains", arguments: StorageStrategy.allCases)
  func countAndContains(storage: StorageStrategy) {
    let (hub, delegates) = makeHub(storage)
    #expect(hub.count == 4)
    #expect(!hub.isEmpty)
    #expect(hub.contains(delegates[3]))
    #expect(!hub.contains(RecordingObserver()))
    hub.removeAll()
    #expect(hub.count == 0)
    #expect(hub.isEmpty)
    #expect(!hub.contains(delegates[3]))
    hub += delegates[3]
    #expect(hub.count == 1)
    #expect(hub.contains(delegates[3]))
  }

  @Test("delegates are retained by the array, in order", arguments: StorageStrategy.allCases)
  func delegatesAreAnArray(storage: StorageStrategy) {
    let tracker = LifetimeTracker()
    let hub = MulticastDelegate<any Observing>(storage: storage)
    var kept = (0..<4).map { RecordingObserver($0, tracker: tracker) }
    for delegate in kept { hub += delegate }
    var delegates = hub.delegates
    kept = []
    #expect(tracker.live == 4)
    #expect(delegates.reversed().map(\.id) == [3, 2, 1, 0])
    #expect(delegates.reduce(0) { $0 + $1.id } == 6)
    delegates = []
    #expect(tracker.live == 0)
    #expect(hub.isEmpty)
  }

  @Test("subscripts go both ways", arguments: StorageStrategy.allCases)
  func subscripts(storage: StorageStrategy) {
    let (hub, delegates) = makeHub(storage, count: 40)
    for (index, delegate) in delegates.enumerated() {
      #expect(hub[index] === delegate)
      #expect(hub[delegate] == index)
    }
    #expect(hub[RecordingObserver()] == nil)
    hub -= delegates[0]
    #expect(hub[0] === delegates[1])
    #expect(hub[delegates[39]] == 38)
    #expect(hub[delegates[0]] == nil)
  }

  @Test("a hub is a sequence", arguments: StorageStrategy.allCases)
  func sequence(storage: StorageStrategy) {
    let (hub, delegates) = makeHub(storage)
    var ids: [Int] = []
    for delegate in hub { ids.append(delegate.id) }
    #expect(ids == [0, 1, 2, 3])
    #expect(hub.map(\.id) == ids)
    #expect(hub.first { $0.id > 1 } === delegates[2])
    #expect(hub.allSatisfy { $0.id < 4 })
    #expect(Array(hub).count == 4)
    #expect(hub.reversed().map(\.id) == [3, 2, 1, 0])
  }

  @Test(
    "an iteration skips what is removed or dies before it is reached",
    arguments: StorageStrategy.allCases)
  func iterationPassesOverTheRemoved(storage: StorageStrategy) {
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let holders = (0..<6).map { Holder(RecordingObserver($0)) }
    for holder in holders { hub += holder.value! }
    let late = RecordingObserver(9)
    var ids: [Int] = []
    for delegate in hub {
      ids.append(delegate.id)
      guard delegate.id == 0 else { continue }
      hub += late
      hub -= holders[1].value!
      holders[3].value = nil
    }
    #expect(ids == [0, 2, 4, 5])
  }

  @Test("an iterator keeps its hub", arguments: StorageStrategy.allCases)
  func iteratorKeepsItsHub(storage: StorageStrategy) {
    let delegates = (0..<3).map { RecordingObserver($0) }
    var hub: MulticastDelegate? = MulticastDelegate<any Observing>(storage: storage)
    weak let gone = hub
    for delegate in delegates { hub! += delegate }
    do {
      var iterator = hub!.makeIterator()
      #expect(iterator.next()?.id == 0)
      hub = nil
      #expect(iterator.next()?.id == 1)
      #expect(iterator.next()?.id == 2)
      #expect(iterator.next() == nil)
    }
    #expect(gone == nil)
  }

  @Test("a hub that is made for one loop has its delegates")
  func temporaryHub() {
    let delegates = (0..<3).map { RecordingObserver($0) }
    var ids: [Int] = []
    for delegate in MulticastDelegate<any Observing>(delegates) { ids.append(delegate.id) }
    #expect(ids == [0, 1, 2])
    #expect(MulticastDelegate<any Observing>(delegates).map(\.id) == [0, 1, 2])
  }

  @Test("the operators do what the methods do", arguments: StorageStrategy.allCases)
  func operators(storage: StorageStrategy) {
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let (first, second) = (RecordingObserver(1), RecordingObserver(2))
    hub += first
    hub += second
    hub += first
    #expect(hub.map(\.id) == [1, 2])
    hub ~> { $0.receive(1) }
    let called = hub ~> { $0.receive(1) }
    #expect(called == 2)
    #expect(first.calls == 2)
    hub -= first
    hub -= first
    #expect(hub.map(\.id) == [2])
  }

  @Test("+= holds weakly", arguments: StorageStrategy.allCases)
  func plusHoldsWeakly(storage: StorageStrategy) {
    let tracker = LifetimeTracker()
    let hub = MulticastDelegate<any Observing>(storage: storage)
    hub += RecordingObserver(tracker: tracker)
    #expect(tracker.live == 0)
    #expect(hub.isEmpty)
  }

  @Test(
    "the descriptions name type, count, storage and delegates", arguments: StorageStrategy.allCases)
  func descriptions(storage: StorageStrategy) {
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let (first, second) = (RecordingObserver(1), ReportingObserver(2))
    var dead: RecordingObserver? = RecordingObserver(3)
    hub += first
    hub += dead!
    hub += second
    dead = nil
    #expect(hub.description == "\(hub)")
    #expect(hub.description.hasPrefix("MulticastDelegate<"))
    #expect(hub.description.contains("Observing"))
    #expect(hub.description.hasSuffix("(count: 2, storage: \(storage))"))
    #expect(hub.debugDescription == "\(hub.description) [RecordingObserver, ReportingObserver]")
    #expect(String(reflecting: hub) == hub.debugDescription)
  }

  @Test("waitFree and ignoring duplicates are the defaults")
  func defaults() {
    let hub = MulticastDelegate<any Observing>()
    let delegate = RecordingObserver()
    hub += delegate
    hub += delegate
    #expect(hub.description.hasSuffix("(count: 1, storage: waitFree)"))
  }

  @Test("a hub begins with delegates of one type or of several, in an array or any sequence")
  func initialDelegates() {
    let (first, second) = (RecordingObserver(), ActingObserver())
    let several = MulticastDelegate<any Observing>([first, second], name: "several")
    #expect(several.count == 2 && several.name == "several")
    #expect(MulticastDelegate<any Observing>([first]).count == 1)
    #expect(MulticastDelegate([first]).delegates.first === first)
    #expect(MulticastDelegate<any Observing>([]).isEmpty)
    let observers: [any Observing] = [first, second]
    #expect(MulticastDelegate(observers.lazy.reversed()).delegates.first === second)
    #expect(MulticastDelegate(several).count == 2)
  }

  @Test("with the storage and the policy for duplicates that are asked for", arguments: 0...1)
  func initialDelegatesWithOptions(isLazy: Int) {
    let delegate = RecordingObserver()
    let twice = [delegate, delegate]
    let hub =
      isLazy == 1
      ? MulticastDelegate(twice.lazy, storage: .locked, duplicates: .allow, name: "twice")
      : MulticastDelegate(twice, storage: .locked, duplicates: .allow, name: "twice")
    let text = #"MulticastDelegate<RecordingObserver>(name: "twice", count: 2, storage: locked)"#
    #expect(hub.description == text)
    #expect(MulticastDelegate(twice).count == 1)
  }

  @Test("a hub of Sendable delegates is Sendable")
  func hubIsSendable() {
    func sent<Value: Sendable>(_ value: Value) -> Value { value }
    let delegate = RecordingObserver()
    let hub = sent(MulticastDelegate<any Observing>([delegate]))
    let registration = sent(hub.add(delegate))
    runThreads(1) { _ in
      hub.invoke { $0.receive(1) }
      registration.cancel()
    }
    #expect(delegate.calls == 1)
  }
}
