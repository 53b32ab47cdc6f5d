import Dispatch
import Foundation
import Multicast
import MulticastTestSupport
import Testing

@Suite("Events that a block makes a handler put back take no space from others")
struct PutBackTests {
  /// A handler on a queue that has taken three events, as many as its limit, is called with the
  /// first, and then puts back the others.
  private struct Slow {
    let hub = EventHub<Int>()
    let queue = DispatchQueue(label: "slow")
    let log = Guarded<[Int]>([])
    let subscription: EventSubscription
    private let began = DispatchSemaphore(value: 0)
    private let mayEnd = DispatchSemaphore(value: 0)

    init(_ policy: OverflowPolicy) {
      queue.suspend()
      subscription = hub.subscribe(on: queue, buffering: .bounded(3, whenFull: policy)) {
        [log, began, mayEnd] event in
        log.withLock { $0.append(event) }
        guard event == 1 else { return }
        began.signal()
        mayEnd.wait()
      }
      for event in 1...3 { hub.send(event) }
      queue.resume()
      began.wait()
      queue.suspend()
    }

    /// Returns when `count` events wait, and the block is over.
    func putBack(until count: Int) {
      subscription.block()
      mayEnd.signal()
      while subscription.statistics?.pending != count { sched_yield() }
      subscription.unblock()
    }

    func received() async -> [Int] {
      queue.resume()
      await hub.flush()
      return log.withLock { $0 }
    }
  }

  @Test(
    "as many more may wait as the limit says", arguments: [OverflowPolicy.dropNewest, .disconnect])
  func limit(_ policy: OverflowPolicy) async {
    let slow = Slow(policy)
    await onOwnThread { slow.putBack(until: 2) }
    for event in 4...6 { slow.hub.send(event) }
    #expect(slow.subscription.end == nil)
    #expect(await slow.received() == Array(1...6))
  }

  @Test("and what trySend has reserved stays", arguments: OverflowPolicy.allCases)
  func reserved(_ policy: OverflowPolicy) async {
    let slow = Slow(policy)
    slow.hub.send(4)
    let other = slow.hub.subscribe(
      on: .sender,
      where: { event in
        slow.putBack(until: 3)
        return true
      }
    ) { _ in }
    await onOwnThread { #expect(slow.hub.trySend(5)) }
    #expect(await slow.received().contains(5))
    withExtendedLifetime(other) {}
  }

  @Test("and they never become more than the limit", arguments: OverflowPolicy.allCases)
  func blockedAgainAndAgain(_ policy: OverflowPolicy) async {
    let (hub, limit) = (EventHub<Int>(), 3)
    let queue = DispatchQueue(label: "blocks itself")
    let subscription = hub.subscribe(
      on: queue, buffering: .bounded(limit, whenFull: policy)
    ) { (subscription: EventSubscription, event: Int) in
      for next in 1...limit { hub.send(event + next) }
      subscription.block()
    }
    hub.send(0)
    for _ in 0..<40 where subscription.end == nil {
      await eventually { subscription.isBlocked }
      queue.sync {}
      // What the handler has sent, and what it puts back.
      #expect(subscription.statistics?.pending ?? 0 <= 2 * limit)
      subscription.unblock()
    }
    subscription.cancel()
  }
}
