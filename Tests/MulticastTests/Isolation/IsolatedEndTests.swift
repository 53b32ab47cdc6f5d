import Dispatch
import Multicast
import MulticastTestSupport
import Testing

@Suite("The end of a registration on an actor: cancellation, owners, and actors that are gone")
struct IsolatedEndTests {
  @Test("after cancelAndWait no call runs or begins", arguments: [false, true])
  func cancelAndWait(isAsync: Bool) async {
    for _ in 0..<200 {
      let hub = EventHub<Int>()
      let station = Station()
      let tracker = LifetimeTracker()
      let isOver = Gate("over")
      let subscription =
        isAsync
        ? hub.subscribe(with: station) { station, value in
          if isOver.isOpen { tracker.noteLateCall() }
          await Task.yield()
          if isOver.isOpen { tracker.noteLateCall() }
        }
        : hub.subscribe(with: station) { station, value in
          if isOver.isOpen { tracker.noteLateCall() }
        }
      let sender = RunningThread { for value in 0..<200 { hub.send(value) } }
      await eventually { subscription.statistics?.delivered ?? 0 > 0 || !subscription.isActive }
      await subscription.cancelAndWait()
      isOver.open()
      sender.join()
      #expect(tracker.lateCalls == 0)
      // The drain discards what it has taken.
      await eventually { subscription.statistics?.pending == 0 }
    }
  }

  @Test("cancelAndWait on the same actor does not deadlock, and nothing follows")
  func onTheSameActor() async {
    let hub = EventHub<Int>()
    let station = Station()
    let subscription = hub.subscribe(with: station) { station, value in station.receive(value) }
    for value in 0..<1000 { hub.send(value) }
    let count = await station.cancelAndWait(subscription)
    hub.send(0)
    #expect(await station.received.count == count)
    let blocking = hub.subscribe(with: station) { station, value in station.receive(value) }
    for value in 0..<1000 { hub.send(value) }
    #expect(await station.cancelAndBlock(blocking))
  }

  @Test("inside the handler cancelAndWait returns at once", arguments: [1, 3])
  func inside(limit: Int) async {
    let hub = EventHub<Int>()
    let held = Holder<EventSubscription>(nil)
    let done = Counter()
    held.value = hub.subscribe(maxConcurrentCalls: limit) { _ in
      await held.value?.cancelAndWait()
      done.add()
    }
    hub.send(1)
    await eventually { done.value == 1 }
    #expect(hub.send(2) == 0)
    held.value = nil
  }

  @Test("a sender does not become the last owner: the owner dies on its actor")
  func lastRelease() async {
    DispatchQueue.main.setSpecific(key: mainQueueKey, value: true)
    let onMain = Counter()
    let elsewhere = Counter()
    let rounds = 2000
    let hub = EventHub<Int>()
    let isOver = Gate("over")
    let sender = RunningThread { while !isOver.isOpen { hub.send(1) } }
    await MainActor.run {
      for _ in 0..<rounds {
        let owner = MainOwner(onMain, elsewhere)
        hub.subscribe(with: owner, buffering: .latest) { @MainActor owner, _ in owner.calls += 1 }
      }
    }
    isOver.open()
    sender.join()
    await eventually { onMain.value + elsewhere.value == rounds }
    // To find out whether an owner lives, a portable weak reference retains it for a moment.
    #if !MULTICAST_PORTABLE_WEAK
      #expect(elsewhere.value == 0)
    #endif
  }

  @Test("it ends with an actor that the handler does not keep alive, and nothing piles up")
  func actorGone() async {
    let hub = EventHub<Int>()
    let tracker = LifetimeTracker()
    var station: Station? = Station(tracker: tracker)
    let subscription = await station!.perform { station in
      hub.subscribe { [weak station] _ in _ = station }
    }
    station = nil
    await eventually { tracker.live == 0 }
    hub.send(1)
    #expect(hub.send(2) == 0)
    #expect(hub.subscriberCount == 0)
    #expect(!subscription.isActive)
    #expect(subscription.statistics?.pending == 0)
  }

  @Test("every owner, actor and handler is destroyed, while others send", arguments: [false, true])
  func nothingLeaks(isAsync: Bool) async {
    let tracker = LifetimeTracker()
    let hub = EventHub<Int>()
    let isOver = Gate("over")
    let sender = RunningThread { while !isOver.isOpen { hub.send(1) } }
    for _ in 0..<500 {
      let station = Station(tracker: tracker)
      let payload = RecordingObserver(tracker: tracker)
      if isAsync {
        hub.subscribe(with: station, buffering: .latest) { _, value in
          payload.receive(value)
          await Task.yield()
        }
      } else {
        hub.subscribe(with: station, buffering: .latest) { _, value in payload.receive(value) }
      }
      await Task.yield()
    }
    isOver.open()
    sender.join()
    // A send removes those whose owners are gone.
    await eventually {
      hub.send(1)
      return tracker.live == 0
    }
    #expect(tracker.created == 1000)
    #expect(hub.subscriberCount == 0)
  }
}

extension Station {
  func cancelAndWait(_ subscription: EventSubscription) async -> Int {
    await subscription.cancelAndWait()
    return received.count
  }

  func cancelAndBlock(_ subscription: EventSubscription) -> Bool {
    subscription.cancelAndWait(timeout: .seconds(timeLimit))
  }
}

private let mainQueueKey = DispatchSpecificKey<Bool>()

/// Counts whether it dies on the main queue.
@MainActor private final class MainOwner {
  var calls = 0
  private let onMain: Counter
  private let elsewhere: Counter

  init(_ onMain: Counter, _ elsewhere: Counter) {
    self.onMain = onMain
    self.elsewhere = elsewhere
  }

  deinit {
    // Not `Thread.isMainThread`: on Linux another thread may serve the main queue.
    let isOnMain = DispatchQueue.getSpecific(key: mainQueueKey) != nil
    if isOnMain { onMain.add() } else { elsewhere.add() }
  }
}
