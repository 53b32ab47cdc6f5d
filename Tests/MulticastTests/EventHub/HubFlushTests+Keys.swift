import Dispatch
import Multicast
import MulticastTestSupport
import Testing

extension HubFlushTests {
  @Test("inside a key: neither for the subscriber of the key, nor for ever")
  func insideAKey() {
    let hub = EventHub<Int>()
    let flushed = Counter()
    let policy = BufferingPolicy<Int>.coalescing { [unowned hub] event in
      if hub.flush(timeout: .seconds(60)) { flushed.add() }
      return event
    }
    let subscription = hub.subscribe(on: .global(), buffering: policy) { _ in }
    for event in 0..<3 { hub.send(event) }
    #expect(flushed.value == 3)
    withExtendedLifetime(subscription) {}
  }
}
