import Dispatch
import Multicast
import MulticastTestSupport
import Testing

/// An event whose `deinit` uses the hub on another thread. It would deadlock if the thread that
/// destroys the event held a lock.
private final class Parting: Sendable {
  private let hub: EventHub<Parting?>
  private let gone: Counter

  init(_ hub: EventHub<Parting?>, _ gone: Counter) {
    self.hub = hub
    self.gone = gone
  }

  deinit {
    let hub = hub
    runThreads(1) { _ in
      hub.send(nil)
      hub.subscribe { _ in }.cancel()
      _ = hub.statistics
    }
    gone.add()
  }
}

@Suite("Promise 3 for events: no event is destroyed under a lock")
struct EventReentrancyLaws {
  fileprivate static let policies: [BufferingPolicy<Parting?>] = [
    .bounded(2, whenFull: .dropOldest), .bounded(2, whenFull: .dropNewest),
    .bounded(2, whenFull: .suspend), .bounded(2, whenFull: .disconnect),
    .coalescing { _ in 0 }, .unbounded,
  ]

  /// - Parameter policy: the index of a buffering policy, of six.
  @Test(
    "whatever destroys it: a full buffer, its delivery, cancellation, the history",
    arguments: Ordering.allCases, 0..<6)
  func eventsDieOutsideOfLocks(ordering: Ordering, policy: Int) async {
    for (storage, replay) in [(StorageStrategy.waitFree, 0), (.waitFree, 2), (.locked, 2)] {
      let hub = EventHub<Parting?>(replay: replay, ordering: ordering, storage: storage)
      let gone = Counter()
      let queue = DispatchQueue(label: "suspended")
      queue.suspend()
      let onQueue = hub.subscribe(on: queue, buffering: Self.policies[policy]) { _ in }
      let iterator = hub.events(buffering: Self.policies[policy]).makeAsyncIterator()
      for _ in 0..<5 { hub.send(Parting(hub, gone)) }
      _ = await iterator.next()
      for _ in 0..<5 { hub.send(Parting(hub, gone)) }
      await Self.cancelASender(hub, gone)
      // The subscription discards what waits, and newer events replace those kept for replay.
      onQueue.cancel()
      for _ in 0..<2 { hub.send(nil) }
      hub.finish()
      while await iterator.next() != nil {}
      queue.resume()
      #expect(gone.value == 11)
    }
  }

  /// One of them is destroyed because its sender gives up waiting.
  private static func cancelASender(_ hub: EventHub<Parting?>, _ gone: Counter) async {
    let sender = Task { await hub.sendWaiting(Parting(hub, gone)) }
    sender.cancel()
    _ = await sender.value
  }
}
