import Dispatch
import MulticastTestSupport
import Testing

@testable import Multicast

@Suite("A flush whose time ran out leaves nothing behind")
struct FlushPollingTests {
  @Test("polling a queue that stands still", arguments: StorageStrategy.allCases)
  func polling(_ strategy: StorageStrategy) {
    let hub = MulticastDelegate<any Observing>(storage: strategy)
    let queue = DispatchQueue(label: "suspended")
    queue.suspend()
    let delegates = (0..<3).map { RecordingObserver($0) }
    for delegate in delegates { hub.add(delegate, on: queue) }
    hub.invoke { $0.receive(0) }
    for _ in 0..<1_000 { #expect(!hub.flush(timeout: .zero)) }
    for case let entry? in hub.registry.snapshot() {
      let mailbox = entry.head.pointee.mailbox!.takeUnretainedValue()
      #expect(mailbox.withLock { mailbox.state.flushes.count } == 0)
    }
    // One that still waits returns all the same.
    let isFlushed = Gate("flushed")
    let thread = RunningThread {
      if hub.flush(timeout: .seconds(60)) { isFlushed.open() }
    }
    for _ in 0..<100 { hub.flush(timeout: .zero) }
    queue.resume()
    thread.join()
    #expect(isFlushed.isOpen)
    #expect(delegates.allSatisfy { $0.calls == 1 })
  }
}
