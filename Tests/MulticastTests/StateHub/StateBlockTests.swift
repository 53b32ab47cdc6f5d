import Dispatch
import Multicast
import MulticastTestSupport
import Testing

@Suite("What a subscriber of a state lost during a block, it gets as a snapshot after the block")
struct StateBlockTests {
  /// Subscriptions at every place where a handler can be called, each with its copy.
  private struct Places {
    let copies = (0..<4).map { _ in StateCopy() }
    let station = ActorWithCopy()
    let subscriptions: [EventSubscription]

    init(_ hub: ChainHub, keepingUpTo limit: Int = .max) {
      let copies = copies
      subscriptions = [
        hub.subscribe(on: .sender) { copies[0].receive($0) },
        hub.subscribe(on: DispatchQueue(label: "blocked"), keepingUpTo: limit) {
          copies[1].receive($0)
        },
        hub.subscribe(on: .main, keepingUpTo: limit) { copies[2].receive($0) },
        hub.subscribe(on: .global(), keepingUpTo: limit) { copies[3].receive($0) },
        hub.subscribe(with: station, keepingUpTo: limit) { $0.copy.receive($1) },
      ]
    }

    var allCopies: [StateCopy] { copies + [station.copy] }

    func block() { for subscription in subscriptions { subscription.block() } }

    func unblock() { for subscription in subscriptions { subscription.unblock() } }
  }

  @Test("at every place, without another change", arguments: [1, 3, .max])
  func lostDuringABlock(_ limit: Int) async {
    let hub = makeChainHub()
    let places = Places(hub, keepingUpTo: limit)
    await hub.flush()  // Each has its snapshot before the first change.
    hub.apply(1)
    await hub.flush()
    places.block()
    hub.apply(2)
    hub.apply(3)
    places.unblock()
    await hub.flush()
    for copy in places.allCopies {
      #expect(copy.snapshots == 2 && copy.changes == [1] && copy.state == hub.value)
    }
    hub.apply(4)
    await hub.flush()
    for copy in places.allCopies {
      #expect(copy.snapshots == 2 && copy.changes == [1, 4] && copy.state == hub.value)
    }
  }

  @Test("after a block during which nothing changed, it gets nothing")
  func nothingLost() async {
    let hub = makeChainHub()
    let places = Places(hub)
    hub.apply(1)
    await hub.flush()
    places.block()
    places.unblock()
    await hub.flush()
    for copy in places.allCopies { #expect(copy.snapshots == 1 && copy.state == hub.value) }
  }

  @Test("it waits for the last of several blocks, and what waited comes first")
  func nestedBlocks() async {
    let hub = makeChainHub()
    let places = Places(hub)
    await hub.flush()
    let queue = DispatchQueue(label: "suspended")
    let (copy, order) = (StateCopy(), Guarded<[Bool]>([]))
    let waiting = hub.subscribe(on: queue) { update in
      copy.receive(update)
      let isSnapshot = if case .snapshot = update { true } else { false }
      order.withLock { $0.append(isSnapshot) }
    }
    await hub.flush()
    queue.suspend()
    hub.apply(1)
    for _ in 0..<2 {
      places.block()
      waiting.block()
    }
    hub.apply(2)
    places.unblock()
    waiting.unblock()
    #expect(places.copies[0].state?.count == 1)
    places.unblock()
    waiting.unblock()
    #expect(places.copies[0].state == hub.value)
    queue.resume()
    await hub.flush()
    for copy in places.allCopies + [copy] { #expect(copy.state == hub.value) }
    // The change that waited came before the second snapshot.
    #expect(order.withLock { $0 } == [true, false, true])
  }

  @Test("a handler that is blocked before its first snapshot gets it after the block")
  func blockedBeforeItsSnapshot() {
    let hub = makeChainHub()
    let copy = StateCopy()
    let inner = Guarded<EventSubscription?>(nil)
    let outer = hub.subscribe(on: .sender) { update in
      guard case .change(1) = update else { return }
      // This thread delivers, so the snapshot is left to it.
      let subscription = hub.subscribe(on: .sender) { copy.receive($0) }
      subscription.block()
      inner.withLock { $0 = subscription }
    }
    hub.apply(1)
    hub.apply(2)
    #expect(copy.snapshots == 0)
    inner.withLock { $0 }?.unblock()
    #expect(copy.snapshots == 1 && copy.state == hub.value)
    hub.apply(3)
    #expect(copy.snapshots == 1 && copy.changes == [3] && copy.strays == 0)
    #expect(copy.state == hub.value)
    withExtendedLifetime(outer) {}
  }

  @Test("a handler with a buffer gets the last state, if the hub has finished during the block")
  func finishDuringABlock() async {
    for isDestroyed in [false, true] {
      var hub: ChainHub? = makeChainHub()
      let copies = (0..<2).map { _ in StateCopy() }
      let subscriptions = [
        hub!.subscribe(on: DispatchQueue(label: "blocked")) { copies[0].receive($0) },
        hub!.subscribe(on: .main, keepingUpTo: 1) { copies[1].receive($0) },
      ]
      await hub!.flush()
      for subscription in subscriptions { subscription.block() }
      hub!.apply(1)
      hub!.apply(2)
      let last = hub!.value
      if isDestroyed { hub = nil } else { hub!.finish() }
      for (subscription, copy) in zip(subscriptions, copies) {
        #expect(subscription.isActive && copy.state?.count == 0)
        subscription.unblock()
        await eventually { !subscription.isActive }
        #expect(copy.state == last && copy.snapshots == 2 && copy.changes.isEmpty)
        #expect(subscription.end == .finished)
        subscription.block()
        subscription.unblock()
      }
    }
  }

  @Test("after the end, also if the handler's place looks for more at that moment")
  func unblockBesideTheConsumer() async {
    for _ in 0..<50 {
      let hub = makeChainHub()
      let (queue, copies) = (DispatchQueue(label: "beside"), (0..<64).map { _ in StateCopy() })
      let subscriptions = copies.map { copy in hub.subscribe(on: queue) { copy.receive($0) } }
      await hub.flush()
      for subscription in subscriptions { subscription.block() }
      hub.apply(1)
      queue.suspend()
      hub.finish()  // Wakes each.
      await onOwnThread {
        queue.resume()
        for subscription in subscriptions { subscription.unblock() }
      }
      await eventually { subscriptions.allSatisfy { !$0.isActive } }
      #expect(copies.allSatisfy { $0.state == hub.value })
    }
  }

  @Test("a handler that unblocks another inside a delivery", arguments: StorageStrategy.allCases)
  func unblockInAHandler(_ storage: StorageStrategy) async {
    let hub = makeChainHub(storage)
    let places = Places(hub)
    await hub.flush()
    let opener = hub.subscribe(on: .sender) { update in
      if case .change(2) = update { places.unblock() }
    }
    places.block()
    hub.apply(1)
    hub.apply(2)
    await hub.flush()
    for copy in places.allCopies { #expect(copy.state == hub.value && copy.snapshots == 2) }
    withExtendedLifetime(opener) {}
  }

  @Test("beside threads that apply and block", arguments: StorageStrategy.allCases)
  func law(_ storage: StorageStrategy) async {
    for limit in [1, 3, .max] {
      let hub = makeChainHub(storage)
      let places = Places(hub, keepingUpTo: limit)
      let (threads, perThread) = (3, 300)
      await onOwnThread {
        runThreads(threads) { thread in
          for index in 0..<perThread {
            let subscription = places.subscriptions[(index + thread) % places.subscriptions.count]
            subscription.block()
            hub.apply(thread * perThread + index)
            subscription.unblock()
          }
        }
      }
      #expect(hub.value.count == threads * perThread)
      await hub.flush()
      for copy in places.allCopies { #expect(copy.state == hub.value && copy.strays == 0) }
    }
  }
}
