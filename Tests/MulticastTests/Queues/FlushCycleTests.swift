import Dispatch
import Multicast
import MulticastTestSupport
import Synchronization
import Testing

@Suite("Callbacks that flush do not wait for each other")
struct FlushCycleTests {
  private typealias Hub = MulticastDelegate<any Observing>

  @Test("two delegates of one hub", arguments: StorageStrategy.allCases)
  func twoOfOneHub(_ strategy: StorageStrategy) {
    let hub = Hub(storage: strategy)
    for _ in 0..<20 { expectNoCycle([hub, hub], flushed: [hub, hub]) }
  }

  @Test("two delegates of two hubs")
  func twoHubs() {
    for _ in 0..<20 {
      let hubs = [Hub(), Hub()]
      expectNoCycle(hubs, flushed: [hubs[1], hubs[0]])
    }
  }

  @Test("three delegates, each of which flushes the hub of the next", arguments: 3...5)
  func longerCycles(count: Int) {
    for _ in 0..<20 {
      let hubs = (0..<count).map { _ in Hub() }
      expectNoCycle(hubs, flushed: (0..<count).map { hubs[($0 + 1) % count] })
    }
  }

  /// Adds a delegate to each of `hubs`. All are called at once, and each flushes its hub of
  /// `flushed` inside its callback.
  private func expectNoCycle(_ hubs: [Hub], flushed: [Hub]) {
    let barrier = StartBarrier(hubs.count)
    let failures = Atomic<Int>(0)
    let calls = Atomic<Int>(0)
    let threads = hubs.indices.map { index in
      let queue = DispatchQueue(label: "queue \(index)")
      let target = flushed[index]
      let delegate = ActingObserver(index) { _, value in
        guard value == index else { return }
        barrier.arriveAndWait()
        if !target.flush(timeout: .seconds(timeLimit)) { failures.add(1, ordering: .relaxed) }
        calls.add(1, ordering: .relaxed)
      }
      let registration = hubs[index].add(delegate, on: queue)
      return (delegate, registration)
    }
    for index in hubs.indices { hubs[index].invoke { if $0.id == index { $0.receive(index) } } }
    for hub in hubs { #expect(hub.flush(timeout: .seconds(120))) }
    #expect(calls.load(ordering: .relaxed) == hubs.count)
    #expect(failures.load(ordering: .relaxed) == 0)
    for (_, registration) in threads { registration.cancel() }
  }

  @Test("a flush from outside waits for a callback that flushes")
  func fromOutside() {
    let (hub, other) = (Hub(), Hub())
    let suspended = DispatchQueue(label: "suspended")
    suspended.suspend()
    let slow = RecordingObserver()
    other.add(slow, on: suspended)
    other.invoke { $0.receive(0) }
    let inside = Gate("inside")
    let isFlushed = Gate("flushed")
    let delegate = ActingObserver { _, _ in
      inside.open()
      if other.flush(timeout: .seconds(120)) { isFlushed.open() }
    }
    hub.add(delegate, on: DispatchQueue(label: "serial"))
    hub.invoke { $0.receive(0) }
    inside.wait()
    #expect(!hub.flush(timeout: .zero))
    suspended.resume()
    #expect(hub.flush(timeout: .seconds(120)))
    #expect(isFlushed.isOpen)
    #expect(slow.calls == 1)
  }

  @Test("the mark of a flush goes with it: afterwards a callback waits for the other one again")
  func marksAreTakenBack() {
    let hub = Hub()
    let (entered, leave) = (Gate("entered"), Gate("leave"))
    let first = ActingObserver(1) { _, value in
      guard value == 1 else { return }
      #expect(hub.flush(timeout: .seconds(120)))
      entered.open()
      leave.wait()
    }
    let second = ActingObserver(2) { _, value in
      guard value == 2 else { return }
      #expect(!hub.flush(timeout: .zero), "the first one is running and flushes nothing")
      leave.open()
      #expect(hub.flush(timeout: .seconds(120)))
    }
    hub.add(first, on: DispatchQueue(label: "first"))
    hub.add(second, on: DispatchQueue(label: "second"))
    hub.invoke { if $0.id == 1 { $0.receive(1) } }
    entered.wait()
    hub.invoke { if $0.id == 2 { $0.receive(2) } }
    #expect(hub.flush(timeout: .seconds(120)))
    #expect(leave.isOpen)
  }
}
