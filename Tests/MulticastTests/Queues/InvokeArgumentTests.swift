import ConcurrencyStress
import Dispatch
import MulticastTestSupport
import Synchronization
import Testing

@testable import Multicast

@Suite("The argument of `invoke` is evaluated once, and every delegate gets what it is then")
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

  @Test("a closure without a queue captures once too", arguments: StorageStrategy.allCases)
  func capturesOnceWithoutQueue(storage: StorageStrategy) {
    let journal = Journal()
    let hub = MulticastDelegate<any Observing>(storage: storage)
    for _ in 0..<3 { hub.add(ValueRecorder(journal), ownership: .strong) }
    var next = 7
    func number() -> Int {
      next += 1
      return next
    }
    hub.invoke { [number = number()] in $0.receive(number) }
    #expect(journal.entries == [8, 8, 8])
    #expect(next == 8)
  }

  @Test(
    "an argument that adds the first delegate on a queue is evaluated once",
    arguments: StorageStrategy.allCases)
  func addsTheFirstQueue(storage: StorageStrategy) async {
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let (first, late) = (RecordingObserver(), RecordingObserver())
    hub.add(first)
    var evaluations = 0
    func body() -> @Sendable (any Observing) -> Void {
      evaluations += 1
      hub.add(late, on: DispatchQueue(label: "queue"))
      return { $0.receive(1) }
    }
    let delivered = hub.invoke(body())
    await hub.flush()
    #expect(evaluations == 1)
    #expect(first.calls == 1)
    #expect(delivered == 1 + late.calls)
    #expect(hub.invoke(body()) == 2)
    #expect(evaluations == 2)
  }

  @Test(
    "the hub's first delegate on a queue is called there by every invocation that finds it",
    arguments: StorageStrategy.allCases)
  func firstQueueBesideInvocations(storage: StorageStrategy) async {
    for round in 0..<500 {
      let hub = MulticastDelegate<any Observing>(storage: storage)
      let queue = DispatchQueue(label: "suspended")
      let (first, placed, last) = (RecordingObserver(), RecordingObserver(), RecordingObserver())
      hub.add(first)
      queue.suspend()
      let delivered = Atomic(0)
      let evaluations = Atomic(0)
      @Sendable func body() -> @Sendable (any Observing) -> Void {
        evaluations.add(1, ordering: .relaxed)
        return { $0.receive(1) }
      }
      let barrier = StartBarrier(2)
      runThreads(2) { thread in
        barrier.arriveAndWait()
        if thread == 0 {
          // For about as long as the other thread needs for some of its invocations.
          while evaluations.load(ordering: .relaxed) < round % 20 {}
          hub.add(placed, on: queue)
          hub.add(last)
        } else {
          for _ in 0..<20 { delivered.add(hub.invoke(body()), ordering: .relaxed) }
        }
      }
      #expect(evaluations.load(ordering: .relaxed) == 20)
      #expect(placed.calls == 0, "not by the thread that invokes")
      queue.resume()
      await hub.flush()
      #expect(first.calls == 20)
      // It was added before the last one, so an invocation that finds that finds both.
      #expect(placed.calls >= last.calls)
      #expect(delivered.load(ordering: .relaxed) == 20 + placed.calls + last.calls)
    }
  }

  @Test(
    "a delegate that gets the hub's first queue during an invocation is not called by its thread",
    arguments: StorageStrategy.allCases)
  func firstQueueDuringTheInvocation(storage: StorageStrategy) async {
    let hub = MulticastDelegate<any Observing>(storage: storage)
    let queue = DispatchQueue(label: "suspended")
    let (first, second, third) = (RecordingObserver(), RecordingObserver(), RecordingObserver())
    for delegate in [first, second, third] { hub.add(delegate) }
    queue.suspend()
    let delivered = hub.invoke { delegate in
      if delegate === first { hub.add(second, on: queue) }
      delegate.receive(1)
    }
    // Its registration of the beginning has ended, and it has another one.
    #expect(delivered == 2)
    #expect(first.calls == 1)
    #expect(second.calls == 0)
    #expect(third.calls == 1)
    #expect(hub.invoke { $0.receive(1) } == 3)
    queue.resume()
    await hub.flush()
    #expect(second.calls == 1)
  }

  @Test("invoke prunes the dead delegates that it meets", arguments: StorageStrategy.allCases)
  func prunes(storage: StorageStrategy) {
    let hub = MulticastDelegate<any Observing>(storage: storage)
    var delegates = (0..<4).map { _ in RecordingObserver() }
    for delegate in delegates { hub.add(delegate) }
    delegates.removeFirst(3)
    #expect(hub.registry.count == 4)
    #expect(hub.invoke { $0.receive(1) } == 1)
    #expect(hub.registry.count == 1)
  }
}

/// Writes what it receives into a journal.
private final class ValueRecorder: Observing {
  let id = 0
  private let journal: Journal

  init(_ journal: Journal) { self.journal = journal }

  func receive(_ value: Int) { journal.record(value) }
}
