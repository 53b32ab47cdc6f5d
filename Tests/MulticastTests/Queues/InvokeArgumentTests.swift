import Dispatch
import Multicast
import MulticastTestSupport
import Testing

@Suite("Promise 5: what `invoke` passes to delegates is evaluated as an argument is")
struct InvokeArgumentTests {
  /// Which delegates a hub has.
  enum Places: CaseIterable {
    case none, caller, queue, both

    func addDelegates(to hub: MulticastDelegate<any Observing>, on queue: DispatchQueue) {
      if self == .caller || self == .both { hub.add(RecordingObserver(), ownership: .strong) }
      if self == .queue || self == .both {
        hub.add(RecordingObserver(), ownership: .strong, on: queue)
        hub.add(RecordingObserver(), ownership: .strong, on: queue)
      }
      if self == .both { hub.add(RecordingObserver(), ownership: .strong) }
    }
  }

  @Test(
    "an argument that is no closure is evaluated once",
    arguments: StorageStrategy.allCases, Places.allCases)
  func evaluatedOnce(storage: StorageStrategy, places: Places) async {
    let hub = MulticastDelegate<any Observing>(storage: storage)
    places.addDelegates(to: hub, on: DispatchQueue(label: "queue"))
    var evaluations = 0
    func body() -> @Sendable (any Observing) -> Void {
      evaluations += 1
      return { $0.receive(1) }
    }
    #expect(hub.invoke(body()) == hub.count)
    #expect(evaluations == 1)
    #expect((hub ~> body()) == hub.count)
    #expect(evaluations == 2)
    await hub.flush()
    #expect(evaluations == 2)
  }

  @Test("a closure captures once, for all delegates", arguments: StorageStrategy.allCases)
  func capturesOnce(storage: StorageStrategy) async {
    let journal = Journal()
    let queue = DispatchQueue(label: "queue")
    let hub = MulticastDelegate<any Observing>(storage: storage)
    hub.add(ValueRecorder(journal), ownership: .strong)
    hub.add(ValueRecorder(journal), ownership: .strong, on: queue)
    hub.add(ValueRecorder(journal), ownership: .strong)
    var next = 7
    func number() -> Int {
      next += 1
      return next
    }
    hub.invoke { [number = number()] in $0.receive(number) }
    await hub.flush()
    #expect(journal.entries == [8, 8, 8])
    #expect(next == 8)
  }

  @Test(
    "a delegate that is added while the argument is evaluated is called",
    arguments: StorageStrategy.allCases)
  func addedByTheArgument(storage: StorageStrategy) {
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let late = RecordingObserver()
    func body() -> @Sendable (any Observing) -> Void {
      hub.add(late)
      return { $0.receive(1) }
    }
    #expect(hub.invoke(body()) == 1)
    #expect(late.calls == 1)
  }

  @Test("a delegate that gets the hub's first queue during the invocation is called there")
  func firstQueueDuringTheInvocation() async {
    // The other strategies call the registrations of the beginning, and this one has ended.
    let hub = MulticastDelegate<any Observing>(storage: .waitFree)
    let queue = DispatchQueue(label: "suspended")
    let (first, second, third) = (RecordingObserver(), RecordingObserver(), RecordingObserver())
    for delegate in [first, second, third] { hub.add(delegate) }
    queue.suspend()
    let delivered = hub.invoke { delegate in
      if delegate === first { hub.add(second, on: queue) }
      delegate.receive(1)
    }
    #expect(delivered == 3)
    #expect(first.calls == 1)
    #expect(second.calls == 0)
    #expect(third.calls == 1)
    queue.resume()
    await hub.flush()
    #expect(second.calls == 1)
  }
}

/// Writes what it receives into a journal.
private final class ValueRecorder: Observing {
  let id = 0
  private let journal: Journal

  init(_ journal: Journal) { self.journal = journal }

  func receive(_ value: Int) { journal.record(value) }
}
