import MulticastTestSupport
import Testing

@testable import Multicast

@Suite("DropCounter")
struct DropCounterTests {
  private final class Owner: Sendable {
    let drops = LazyReference<DropCounter>()
  }

  @Test("threads that need it at once get the same counter, and every drop counts")
  func concurrently() {
    for _ in 0..<300 {
      let owner = Owner()
      #expect(owner.drops.current == nil)
      runThreads(3) { _ in
        for _ in 0..<5 {
          owner.drops.current(or: DropCounter(Owner.self, nil)).add(1, isUnwaited: false)
        }
      }
      #expect(owner.drops.current?.total == 15)
    }
  }

  @Test("a hub whose subscribers have no buffers has none, and counts no drops")
  func withoutBuffers() {
    let hub = EventHub<Int>()
    let handler = hub.subscribe(on: .sender) { _ in }
    hub.send(1)
    #expect(hub.drops.current == nil && hub.statistics.dropped == 0)
    let sequence = hub.events(buffering: .bounded(1, whenFull: .dropNewest))
    let iterator = sequence.makeAsyncIterator()
    for event in 0..<4 { hub.send(event) }
    #expect(hub.statistics.dropped == 3)
    withExtendedLifetime((handler, iterator)) {}
  }
}
