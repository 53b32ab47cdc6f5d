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
      // Not `end`, which would record it.
      #expect(!subscription.isActive)
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

  @Test("is that of its owner, if the owner is gone before a finish closes the buffer")
  func finishAfterOwner() throws {
    let hub = EventHub<Int>()
    var owner: RecordingObserver? = RecordingObserver()
    let buffered = hub.subscribe(with: try #require(owner), buffering: .unbounded) { _, _ in }
    let inline = hub.subscribe(with: try #require(owner), on: .sender) { _, _ in }
    let entries = hub.registry.snapshot().compactMap { $0 }
    owner = nil
    #expect(buffered.end == .cancelled)
    #expect(inline.end == .cancelled)
    // Another thread has found the owner alive before.
    entries[0].mailbox?.close(.finished, for: entries[0])
    #expect(!entries[1].markFinished())
    #expect(buffered.end == .cancelled)
    #expect(inline.end == .cancelled)
  }

  @Test("is that of the cancellation, if a full buffer disconnects before that closes the buffer")
  func disconnectDuringCancellation() throws {
    let hub = EventHub<Int>()
    let queue = DispatchQueue(label: "end")
    let subscription = hub.subscribe(on: queue, buffering: .bounded(1, whenFull: .disconnect)) {
      _ in
    }
    let entry = hub.registry.snapshot().compactMap { $0 }[0]
    let mailbox = try #require(entry.mailbox)
    let storage = try #require(hub.registry.storage as? WaitFreeStorage)
    let (begun, over) = (Gate("begun"), Gate("over"))
    // A consumer that takes nothing.
    queue.async {
      begun.open()
      over.wait()
    }
    begun.wait()
    let removed = try #require(storage.update { $0.remove(.passUnretained(entry)) })
    #expect(subscription.end == .cancelled)
    // A sender that has found the entry before.
    for event in 0..<3 {
      mailbox.enqueue(Envelope(event: event), for: .passUnretained(removed))
    }
    #expect(subscription.end == .cancelled)
    removed.discardPending()
    storage.retire(removed)
    over.open()
    #expect(subscription.end == .cancelled)
  }
}
