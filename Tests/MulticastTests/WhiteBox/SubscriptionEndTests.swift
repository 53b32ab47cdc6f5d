import Dispatch
import MulticastTestSupport
import Synchronization
import Testing

@testable import Multicast

private struct Failure: Error {}

@Suite("The end of a subscription")
struct SubscriptionEndTests {
  @Test("is that of the cancellation, if the hub finishes before that closes the buffer")
  func finishDuringCancellation() throws {
    let queue = DispatchQueue(label: "end")
    for coalesces in [false, true] {
      let hub = EventHub<Int>()
      let subscription = hub.subscribe(
        on: queue, buffering: coalesces ? .coalescing { $0 } : .unbounded
      ) { _ in }
      let entry = hub.registry.snapshot().compactMap { $0 }[0]
      // What a removal does first. Then another thread finishes the hub, with an older snapshot.
      let storage = try #require(hub.registry.storage as? WaitFreeStorage)
      let removed = try #require(storage.update { $0.remove(.passUnretained(entry)) })
      #expect(!subscription.isActive)
      #expect(subscription.end == .cancelled)
      hub.finish(entry)
      hub.finish(throwing: Failure())
      #expect(subscription.end == .cancelled)
      #expect(subscription.failure == nil)
      // What it does last.
      removed.discardPending()
      storage.retire(removed)
      #expect(subscription.end == .cancelled)
      #expect(hub.failure is Failure)
    }
  }
}
