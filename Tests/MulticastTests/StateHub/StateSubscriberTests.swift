import Dispatch
import Multicast
import MulticastTestSupport
import Testing

@Suite("Who follows a state, and how all subscriptions to it end", .timeLimit(.minutes(10)))
struct StateSubscriberTests {
  @Test(
    "cancelSubscriptions ends each as cancelled, and the hub keeps its state",
    arguments: StorageStrategy.allCases)
  func cancelSubscriptions(_ storage: StorageStrategy) async {
    let hub = makeChainHub(storage)
    let copies = (0..<3).map { _ in StateCopy() }
    let queue = DispatchQueue(label: "suspended")
    queue.suspend()
    let subscriptions = [
      hub.subscribe { copies[0].receive($0) },
      hub.subscribe(on: queue) { copies[1].receive($0) },
      hub.subscribe { copies[2].receive($0) },
    ]
    var updates = hub.updates().makeAsyncIterator()
    var counts = hub.values(of: \.count).makeAsyncIterator()
    hub.apply(1)
    subscriptions[2].block()
    hub.apply(2)
    hub.cancelSubscriptions()
    subscriptions[2].unblock()
    #expect(hub.subscriberCount == 0)
    #expect(hub.apply(3) == 0)

    queue.resume()
    await withCheckedContinuation { done in queue.async { done.resume() } }
    #expect(copies.map(\.changes) == [[1, 2], [], [1]])
    #expect(copies.map(\.snapshots) == [1, 0, 1])
    for subscription in subscriptions {
      #expect(!subscription.isActive && subscription.end == .cancelled)
    }
    #expect(await updates.next() == nil)
    #expect(updates.end == .cancelled)
    #expect(await counts.next() == nil)
    #expect(counts.end == .cancelled)

    // The hub goes on.
    #expect(hub.value.count == 3)
    let later = StateCopy()
    let subscription = hub.subscribe { later.receive($0) }
    hub.apply(4)
    #expect(later.state == hub.value && later.changes == [4])
    hub.finish()
    #expect(subscription.end == .finished)
    #expect(subscriptions.map(\.end) == [.cancelled, .cancelled, .cancelled])
  }

  @Test("cancelled while others apply and subscribe: who stays has the state of the hub")
  func cancelledConcurrently() async {
    let hub = makeChainHub()
    let (rounds, threads) = (200, 2)
    let kept = Guarded<[(EventSubscription, StateCopy)]>([])
    runThreads(threads + 1) { thread in
      for _ in 0..<rounds {
        if thread == threads {
          hub.cancelSubscriptions()
        } else {
          let copy = StateCopy()
          let subscription = hub.subscribe { copy.receive($0) }
          kept.withLock { $0.append((subscription, copy)) }
          hub.apply(thread)
        }
      }
    }
    await hub.flush()
    #expect(hub.value.count == rounds * threads)
    let active = kept.withLock { $0.filter { $0.0.isActive } }
    #expect(active.count == hub.subscriberCount)
    for (_, copy) in active { #expect(copy.state == hub.value) }
    for (subscription, copy) in kept.withLock({ $0 }) {
      #expect(copy.strays == 0)
      #expect(subscription.isActive || subscription.end == .cancelled)
    }
    hub.cancelSubscriptions()
    #expect(hub.subscriberCount == 0)
  }

  @Test("subscriberCounts and the waits follow the number of subscribers")
  func counts() async {
    let hub = makeChainHub()
    let numbers = hub.subscriberCounts(buffering: .unbounded).makeAsyncIterator()
    #expect(await numbers.next() == 0)
    let waiting = Task { await hub.waitForSubscribers(atLeast: 2) }
    let first = hub.subscribe { _ in }
    #expect(await numbers.next() == 1)
    let updates = hub.updates()
    #expect(await numbers.next() == 2)
    #expect(await waiting.value)
    #expect(await hub.waitForSubscribers())

    let leaving = Task { await hub.waitForNoSubscribers() }
    first.cancel()
    #expect(await numbers.next() == 1)
    hub.cancelSubscriptions()
    #expect(await numbers.next() == 0)
    #expect(await leaving.value)
    _ = updates

    hub.finish()
    #expect(await !hub.waitForSubscribers(), "no subscriber stays after the end")
    #expect(await hub.waitForNoSubscribers())
  }
}
