import Dispatch
import Multicast
import MulticastTestSupport
import Testing

@Suite("A hub with a state: a snapshot first, then every change")
struct StateHubTests {
  @Test("a handler gets a snapshot before `subscribe` returns, and then each change")
  func handler() {
    let hub = makeChainHub()
    hub.apply(1)
    let copy = StateCopy()
    let subscription = hub.subscribe { copy.receive($0) }
    #expect(copy.snapshots == 1 && copy.state == hub.value)
    #expect(hub.apply(2) == 1)
    hub.apply(3)
    #expect(copy.changes == [2, 3] && copy.snapshots == 1)
    #expect(copy.state == hub.value && hub.value.count == 3)
    subscription.cancel()
    #expect(hub.apply(4) == 0)
    #expect(copy.changes == [2, 3] && hub.value.count == 4)
  }

  @Test("at every place: a snapshot, and then each change, in order")
  @MainActor func places() async {
    let hub = makeChainHub()
    hub.apply(0)
    let copies = (0..<5).map { _ in StateCopy() }
    let owner = RecordingOwner()
    let station = ActorWithCopy()
    let subscriptions = [
      hub.subscribe(on: .sender) { copies[0].receive($0) },
      hub.subscribe(on: DispatchQueue.global()) { copies[1].receive($0) },
      hub.subscribe(on: .main) { update in
        MainActor.assertIsolated()
        copies[2].receive(update)
      },
      hub.subscribe { update in
        MainActor.assertIsolated()
        copies[3].receive(update)
      },
    ]
    hub.subscribe(with: owner) { owner, update in owner.copy.receive(update) }
    hub.subscribe(with: station) { station, update in
      station.assertIsolated()
      station.copy.receive(update)
    }
    let sequence = hub.updates()
    for change in 1...100 { hub.apply(change) }
    await hub.flush(of: copies[4], sequence)
    for copy in copies + [owner.copy, station.copy] {
      #expect(copy.state == hub.value && copy.strays == 0)
      #expect(copy.changes == Array((100 - copy.changes.count + 1)..<101))
    }
    withExtendedLifetime((subscriptions, owner, station)) {}
  }

  @Test("the reducer runs once for each change, in the order of the hub, on one thread at a time")
  func reducer() {
    let running = Counter()
    let overlaps = Counter()
    let hub = StateHub([Int]()) { (changes: inout [Int], change: Int) in
      running.add()
      if running.value != 1 { overlaps.add() }
      changes.append(change)
      running.add(-1)
    }
    let journal = Journal()
    let subscription = hub.subscribe {
      if case .change(let change) = $0 { journal.record(change) }
    }
    let (threads, perThread) = (4, 2000)
    runThreads(threads) { thread in
      for index in 0..<perThread { hub.apply(index * threads + thread) }
    }
    #expect(hub.value.count == threads * perThread && overlaps.value == 0)
    #expect(journal.entries == hub.value)
    for thread in 0..<threads {
      #expect(
        hub.value.filter { $0 % threads == thread }.elementsEqual(
          (0..<perThread).map { $0 * threads + thread }))
    }
    withExtendedLifetime(subscription) {}
  }

  @Test("the reducer owns the only reference to the state, unless a snapshot is in use")
  func inPlace() {
    final class Storage: Sendable {}
    struct State: Sendable {
      var storage = Storage()
      var copies = 0
    }
    let hub = StateHub(State()) { (state: inout State, _: Int) in
      if !isKnownUniquelyReferenced(&state.storage) {
        state.storage = Storage()
        state.copies += 1
      }
    }
    let subscription = hub.subscribe { _ in }
    for change in 0..<10 { hub.apply(change) }
    #expect(hub.value.copies == 0)
    let snapshot = hub.value
    for change in 0..<10 { hub.apply(change) }
    #expect(hub.value.copies == 1)
    withExtendedLifetime((snapshot, subscription)) {}
  }

  @Test("a change in place gives each subscriber a snapshot, at its place in the order")
  func update() async {
    let hub = makeChainHub()
    let updates = Guarded<[ChainUpdate]>([])
    let subscription = hub.subscribe { update in updates.withLock { $0.append(update) } }
    let sequence = hub.updates()
    hub.apply(1)
    hub.update { $0 = Chain() }
    hub.apply(2)
    var last = Chain()
    last.append(2)
    #expect(hub.value == last)
    #expect(
      updates.withLock { $0 } == [
        .snapshot(Chain()), .change(1), .snapshot(Chain()), .change(2),
      ])
    hub.finish()
    var received: [ChainUpdate] = []
    for await update in sequence { received.append(update) }
    // What waited is in the first snapshot.
    #expect(received == [.snapshot(last)])
    withExtendedLifetime(subscription) {}
  }

  @Test("a handler, and the reducer, may apply: the change comes afterwards")
  func reentrant() {
    let hubs = Guarded<StateHub<[Int], Int>?>(nil)
    let hub = StateHub([Int]()) { (changes: inout [Int], change: Int) in
      changes.append(change)
      if change == 1 { hubs.withLock { $0 }?.apply(10) }
    }
    hubs.withLock { $0 = hub }
    let journal = Journal()
    let subscription = hub.subscribe { [weak hub] update in
      guard case .change(let change) = update else { return }
      journal.record(change)
      if change == 10 { hub?.apply(100) }
    }
    hub.apply(1)
    #expect(hub.value == [1, 10, 100] && journal.entries == [1, 10, 100])
    hubs.withLock { $0 = nil }
    withExtendedLifetime(subscription) {}
  }

  @Test("reading the state while another thread folds waits for that change")
  func readWhileFolding() {
    let (folding, mayFold, reading) = (Gate("folding"), Gate("may fold"), Gate("reading"))
    let hub = StateHub(0) { (state: inout Int, change: Int) in
      folding.open()
      mayFold.wait()
      state += change
    }
    let applier = RunningThread { hub.apply(7) }
    folding.wait()
    let reader = RunningThread {
      reading.open()
      #expect(hub.value == 7)
    }
    reading.wait()
    mayFold.open()
    applier.join()
    reader.join()
  }

  @Test("reading the state inside the reducer is a precondition failure that says what to do")
  func readInReducer() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let hubs = Guarded<StateHub<Int, Int>?>(nil)
      let hub = StateHub(0, name: "scores") { (_: inout Int, _: Int) in
        _ = hubs.withLock { $0 }?.value
      }
      hubs.withLock { $0 = hub }
      hub.apply(1)
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains("scores"))
    #expect(message.contains("the state was read inside the reducer of its hub; use the state"))
  }

  @Test("a limit below 1 is a precondition failure that names it")
  func limitBelowOne() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = makeChainHub().updates(keepingUpTo: 0)
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains("a buffer limit of 0"))
    // Of a handler that belongs to no actor too, though its buffer has no limit.
    let inline = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      subscribeInline(to: makeChainHub(), keepingUpTo: 0).cancel()
    }
    let other = String(decoding: inline?.standardErrorContent ?? [], as: UTF8.self)
    #expect(other.contains("a buffer limit of 0"))
  }

  @Test("after finish: changes are refused, the state stays, and a new subscriber gets a snapshot")
  func finish() async {
    let hub = makeChainHub()
    let waiting = hub.updates()
    hub.apply(1)
    hub.finish()
    #expect(hub.apply(2) == 0 && hub.update { $0.append(3) } == 0)
    #expect(hub.value.count == 1 && hub.statistics.refused == 2)
    for sequence in [waiting, hub.updates()] {
      var received: [ChainUpdate] = []
      for await update in sequence { received.append(update) }
      #expect(received == [.snapshot(hub.value)])
    }
    let copy = StateCopy()
    let subscription = hub.subscribe { copy.receive($0) }
    #expect(copy.state == hub.value && !subscription.isActive)
  }

  @Test("a hub that is gone frees its state; what waits still arrives")
  func lifetime() async {
    let lifetimes = LifetimeTracker()
    final class Token: Sendable {
      let lifetimes: LifetimeTracker
      init(_ lifetimes: LifetimeTracker) {
        self.lifetimes = lifetimes
        lifetimes.noteCreation()
      }
      deinit { lifetimes.noteDestruction() }
    }
    do {
      var hub: StateHub<Token, Int>? = StateHub(Token(lifetimes)) { state, _ in
        state = Token(lifetimes)
      }
      let subscription = hub?.subscribe { _ in }
      let sequence = hub?.updates(keepingUpTo: 1)
      for change in 0..<10 { hub?.apply(change) }
      hub = nil
      var snapshots = 0
      if let sequence {
        for await update in sequence { if case .snapshot = update { snapshots += 1 } }
      }
      #expect(snapshots == 1)
      withExtendedLifetime(subscription) {}
    }
    #expect(lifetimes.created == 11 && lifetimes.live == 0)
  }
}

extension StateHubTests {
  @Test("when a blocking flush returns true, every change that was applied has been handled")
  func blockingFlush() {
    let hub = makeChainHub()
    let copy = StateCopy()
    let (started, mayContinue) = (Gate("it is called"), Gate("it may continue"))
    let subscription = hub.subscribe(on: DispatchQueue(label: "changes")) { update in
      started.open()
      mayContinue.wait()
      copy.receive(update)
    }
    for change in 0..<100 { hub.apply(change) }
    started.wait()
    #expect(!hub.flush(timeout: .milliseconds(1)))
    mayContinue.open()
    #expect(hub.flush(timeout: .seconds(100)))
    #expect(copy.state?.count == 100)
    withExtendedLifetime(subscription) {}
  }
}

/// In code that belongs to no actor.
private func subscribeInline(
  to hub: StateHub<Chain, Int>, keepingUpTo limit: Int
) -> EventSubscription {
  hub.subscribe(keepingUpTo: limit) { _ in }
}

private final class RecordingOwner: Sendable {
  let copy = StateCopy()
}

extension StateHub<Chain, Int> {
  /// Waits until every handler has what was applied, and then `copy` from `sequence`.
  fileprivate func flush(of copy: StateCopy, _ sequence: StateSequence<Chain, Int>) async {
    finish()
    for await update in sequence { copy.receive(update) }
    await flush()
  }
}
