import Dispatch
import Multicast
import MulticastTestSupport
import Testing

@Suite("Whenever nothing is under way, what a subscriber has folded equals the state of the hub")
struct StateLawTests {
  @Test(
    "for every buffer size, place and beginning, beside threads that apply and cancel",
    arguments: StorageStrategy.allCases)
  func law(_ storage: StorageStrategy) async {
    for limit in [1, 2, 3, 17, .max] {
      let hub = makeChainHub(storage)
      let copies = Guarded<[StateCopy]>([])
      let subscriptions = Guarded<[EventSubscription]>([])
      let consumers = Guarded<[Task<Void, Never>]>([])
      @Sendable func join(_ kind: Int) {
        let copy = StateCopy()
        switch kind % 5 {
        case 0:
          let subscription = hub.subscribe { copy.receive($0) }
          subscriptions.withLock { $0.append(subscription) }
        case 1:
          let subscription = hub.subscribe(on: .global(), keepingUpTo: limit) { copy.receive($0) }
          subscriptions.withLock { $0.append(subscription) }
        case 2:
          let subscription = hub.subscribe(on: .main, keepingUpTo: limit) { copy.receive($0) }
          subscriptions.withLock { $0.append(subscription) }
        case 3:
          let sequence = hub.updates(keepingUpTo: limit)
          let task = Task { for await update in sequence { copy.receive(update) } }
          consumers.withLock { $0.append(task) }
        default:
          // Comes and goes.
          hub.subscribe(on: .global(), keepingUpTo: limit) { copy.receive($0) }.cancel()
          return
        }
        copies.withLock { $0.append(copy) }
      }
      for kind in 0..<5 { join(kind) }
      let (threads, perThread) = (3, 200)
      await onOwnThread {
        runThreads(threads) { thread in
          for index in 0..<perThread {
            if index.isMultiple(of: 50) {
              hub.update { $0.append(-1) }
            } else {
              hub.apply(thread * perThread + index)
            }
            if index.isMultiple(of: 20) { join(thread + index / 20) }
          }
        }
      }
      #expect(hub.value.count == threads * perThread)
      hub.finish()
      for task in consumers.withLock({ $0 }) { await task.value }
      await hub.flush()
      for copy in copies.withLock({ $0 }) {
        #expect(copy.state == hub.value && copy.strays == 0)
      }
    }
  }

  @Test("a slow consumer gets a snapshot in place of the dropped changes, wherever they were")
  func slowConsumer() async {
    for limit in 1...4 {
      let hub = makeChainHub()
      let copy = StateCopy()
      var iterator = hub.updates(keepingUpTo: limit).makeAsyncIterator()
      await copy.receive(iterator.next()!)
      for burst in 1...10 {
        for change in 0..<burst { hub.apply(change) }
        // A burst that fits arrives as changes; otherwise one snapshot has all of it.
        for _ in 0..<(burst <= limit ? burst : 1) { await copy.receive(iterator.next()!) }
        #expect(copy.state == hub.value)
        #expect(copy.snapshots == 1 + max(0, burst - limit))
      }
    }
  }

  /// A hub whose thread folds change 0 until a gate opens, and then, with the state that has it,
  /// waits for another gate before it goes on. So a subscriber that comes now has its snapshot
  /// between the two changes, and not after both.
  private struct SlowFold {
    let hub: StateHub<Chain, Int>
    let mayFold = Gate("may fold")
    let mayGoOn = Gate("may go on")
    private let subscription: EventSubscription
    private let applier: RunningThread

    init() {
      let (folding, mayFold, mayGoOn) = (Gate("folding"), mayFold, mayGoOn)
      let hub = StateHub(Chain()) { (state: inout Chain, change: Int) in
        if change == 0 {
          folding.open()
          mayFold.wait()
        }
        state.append(change)
      }
      self.hub = hub
      subscription = hub.subscribe(on: .sender) { update in
        if case .change(0) = update { mayGoOn.wait() }
      }
      applier = RunningThread { hub.apply(0) }
      folding.wait()
    }

    /// Returns when every change was delivered.
    func join() async { await onOwnThread { applier.join() } }
  }

  @Test("a subscriber that comes while a change waits for its reducer gets that change too")
  func beforeFold() async {
    let fold = SlowFold()
    let hub = fold.hub
    hub.apply(1)  // Left to the thread that folds.
    var iterator = hub.updates().makeAsyncIterator()
    let (copy, hasSnapshot) = (StateCopy(), Gate("the handler has a snapshot"))
    let subscription = hub.subscribe(on: .global()) {
      copy.receive($0)
      hasSnapshot.open()
    }
    fold.mayFold.open()
    let consumed = StateCopy()
    if let first = await iterator.next() { consumed.receive(first) }
    await onOwnThread { hasSnapshot.wait() }
    #expect(consumed.state?.count == 1 && copy.state?.count == 1)
    fold.mayGoOn.open()
    await fold.join()
    #expect(hub.value.count == 2)
    hub.finish()
    while let update = await iterator.next() { consumed.receive(update) }
    await hub.flush()
    #expect(consumed.state == hub.value && copy.state == hub.value)
    withExtendedLifetime(subscription) {}
  }

  @Test("a subscriber that comes after `finish`, while changes wait, ends with the last state")
  func finishWhileFolding() async {
    let fold = SlowFold()
    let hub = fold.hub
    hub.apply(1)
    hub.finish()
    var iterator = hub.updates().makeAsyncIterator()
    #expect(hub.apply(2) == 0)
    fold.mayFold.open()
    let copy = StateCopy()
    if let first = await iterator.next() { copy.receive(first) }
    #expect(copy.state?.count == 1)
    fold.mayGoOn.open()
    while let update = await iterator.next() { copy.receive(update) }
    await fold.join()
    #expect(copy.state == hub.value && hub.value.count == 2)
  }

  @Test("the values of a field: no value twice in a row, and the last one arrives")
  func values() async {
    let hub = StateHub([String: Int]()) { (counts: inout [String: Int], key: String) in
      counts[key, default: 0] += 1
    }
    var iterator = hub.values(of: { $0["a", default: 0] }).makeAsyncIterator()
    #expect(await iterator.next() == 0)
    hub.apply("a")
    #expect(await iterator.next() == 1)
    hub.apply("b")
    hub.apply("b")
    hub.apply("a")
    #expect(await iterator.next() == 2)
    hub.apply("b")
    hub.finish()
    #expect(await iterator.next() == nil)

    let race = StateHub(0) { (sum: inout Int, change: Int) in sum += change }
    let values = race.values(of: { $0 })
    let consumer = Task {
      var received: [Int] = []
      for await value in values { received.append(value) }
      return received
    }
    await onOwnThread { runThreads(4) { _ in for _ in 0..<500 { race.apply(1) } } }
    race.finish()
    let received = await consumer.value
    #expect(received.last == 2000)
    #expect(zip(received, received.dropFirst()).allSatisfy { $0 < $1 })
  }
}
