import ConcurrencyStress
import Multicast
import MulticastTestSupport
import Testing

/// An event whose destruction is counted.
private final class TrackedEvent: Sendable {
  let number: Int
  private let lifetimes: LifetimeTracker

  init(_ number: Int, _ lifetimes: LifetimeTracker) {
    self.number = number
    self.lifetimes = lifetimes
    lifetimes.noteCreation()
  }

  deinit { lifetimes.noteDestruction() }
}

private final class Owner: Sendable {}

/// Gates for the handling of events, and what was handled.
private final class Stage: Sendable {
  let journal = Journal()
  private let gates: [AsyncGate]

  init(events: Int) { gates = (0..<events).map { _ in AsyncGate() } }

  /// Handles an event: records it, and waits for its gate.
  func handle(_ number: Int) async {
    journal.record(number)
    await gates[number].wait()
  }

  func open(_ number: Int) { gates[number].open() }

  /// Returns when the handler has come to `number`.
  func reached(_ number: Int) async {
    await eventually { self.journal.entries.last == number }
  }

  /// Opens every gate.
  func openAll() { for gate in gates { gate.open() } }
}

/// An actor that a test runs.
private actor Host {
  nonisolated let executor = SteppedExecutor()
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
  nonisolated let gate = AsyncGate()
  nonisolated let journal = Journal()
  nonisolated let overlaps = Counter()
  private var isRunning = false

  /// Waits in the middle, from event 64 on.
  func handle(_ event: Int) async {
    if isRunning { overlaps.add() }
    isRunning = true
    if event >= 64 { await gate.wait() }
    isRunning = false
    journal.record(event)
  }
}

/// The handler takes 1 to 5 together, because they have come while it handled 0.
@Suite("An asynchronous handler that has taken several events at once")
struct TakenEventTests {
  private let hub = EventHub<Int>()
  private let stage = Stage(events: 10)

  private func sendFive() async {
    hub.send(0)
    await stage.reached(0)
    for number in 1...5 { hub.send(number) }
    stage.open(0)
    await stage.reached(1)
  }

  @Test("counts each call when it has ended")
  func counts() async {
    let subscription = hub.subscribe { [stage] in await stage.handle($0) }
    await sendFive()
    for number in 1...5 {
      await stage.reached(number)
      #expect(subscription.statistics?.delivered == number)
      #expect(subscription.statistics?.pending == 6 - number)
      stage.open(number)
    }
    await hub.flush()
    #expect(subscription.statistics?.delivered == 6)
    #expect(subscription.statistics?.pending == 0)
    #expect(stage.journal.entries == Array(0...5))
  }

  @Test("continues in order after a block, for which a flush does not wait")
  func block() async {
    let subscription = hub.subscribe { [stage] in await stage.handle($0) }
    await sendFive()
    subscription.block()
    stage.open(1)
    await hub.flush()
    #expect(stage.journal.entries == [0, 1])
    #expect(subscription.statistics?.pending == 4)
    stage.openAll()
    subscription.unblock()
    hub.send(6)
    await hub.flush()
    #expect(stage.journal.entries == Array(0...6))
    #expect(subscription.statistics?.delivered == 7)
  }

  @Test("a block that ends during the call changes nothing")
  func shortBlock() async {
    let subscription = hub.subscribe { [stage] in await stage.handle($0) }
    await sendFive()
    subscription.block()
    subscription.unblock()
    stage.openAll()
    await hub.flush()
    #expect(stage.journal.entries == Array(0...5))
  }

  @Test("cancelAndWait waits for the running call, and the others are discarded and destroyed")
  func cancelAndWait() async {
    let lifetimes = LifetimeTracker()
    let hub = EventHub<TrackedEvent>()
    let subscription = hub.subscribe { [stage] in await stage.handle($0.number) }
    hub.send(TrackedEvent(0, lifetimes))
    await stage.reached(0)
    for number in 1...5 { hub.send(TrackedEvent(number, lifetimes)) }
    stage.open(0)
    await stage.reached(1)
    let waiting = Task { await subscription.cancelAndWait() }
    await eventually { !subscription.isActive }
    #expect(lifetimes.live == 5)
    stage.open(1)
    await waiting.value
    #expect(stage.journal.entries == [0, 1])
    #expect(subscription.statistics?.delivered == 2)
    #expect(subscription.statistics?.discarded == 4)
    await eventually { lifetimes.live == 0 }
  }

  @Test("calls no more once its owner is gone")
  func owner() async {
    let journal = stage.journal
    var owner: Owner? = Owner()
    let subscription = hub.subscribe(with: owner!) { [stage] _, number in
      await stage.handle(number)
    }
    await sendFive()
    owner = nil
    stage.openAll()
    await hub.flush()
    // The call that was running keeps the owner to its end.
    #expect(journal.entries == [0, 1])
    #expect(subscription.statistics?.pending == 0)
  }

  @Test("has them all before onEnd")
  func end() async {
    let journal = stage.journal
    let end = SubscriberOption<Int>.onEnd { _, _ in journal.record(-1) }
    let subscription = hub.subscribe(options: [end]) { [stage] in await stage.handle($0) }
    await sendFive()
    hub.finish()
    stage.openAll()
    await eventually { journal.entries.last == -1 }
    #expect(journal.entries == Array(0...5) + [-1])
    #expect(!subscription.isActive)
  }

  @Test("takes one at a time from a buffer with a limit, whose places count exactly")
  func limit() async {
    let subscription = hub.subscribe(buffering: .bounded(5, whenFull: .dropNewest)) { [stage] in
      await stage.handle($0)
    }
    await sendFive()
    for number in 6...7 { hub.send(number) }  // 2 to 5 wait, so there is one place.
    #expect(subscription.statistics?.dropped == 1)
    stage.openAll()
    await hub.flush()
    #expect(stage.journal.entries == Array(0...6))
  }

  @Test("takes one at a time if a newer event replaces one that waits")
  func coalescing() async {
    let subscription = hub.subscribe(buffering: .coalescing { $0 % 2 }) { [stage] in
      await stage.handle($0)
    }
    hub.send(0)
    await stage.reached(0)
    for number in 1...2 { hub.send(number) }
    stage.open(0)
    await stage.reached(1)
    hub.send(4)
    stage.openAll()
    await hub.flush()
    #expect(stage.journal.entries == [0, 1, 4])
    #expect(subscription.statistics?.dropped == 1)
  }

  @Test("no other call begins while the task of the calls yields, which it does after 64")
  func yield() async {
    let host = Host()
    let subscription = hub.subscribe(with: host) { host, event in await host.handle(event) }
    let isHandled = await onOwnThread { [hub] in
      for event in 0..<64 { hub.send(event) }
      guard host.executor.run(until: { host.journal.entries.count == 64 }) else { return false }
      for event in 64..<66 {
        hub.send(event)
        while host.executor.runNewest() {}
      }
      host.gate.open()
      return host.executor.run(until: { host.journal.entries.count == 66 })
    }
    #expect(isHandled)
    #expect(host.overlaps.value == 0)
    #expect(host.journal.entries == Array(0..<66))
    #expect(subscription.statistics?.delivered == 66)
  }

  @Test("each event once, in order, if the handler becomes idle while others are sent")
  func idle() async {
    let count = 60_000
    let (journal, running, overlaps) = (Journal(), Counter(), Counter())
    let subscription = hub.subscribe { (event: Int) async in
      running.add()
      if running.value != 1 { overlaps.add() }
      journal.record(event)
      running.add(-1)
    }
    await onOwnThread { [hub] in
      for event in 0..<count {
        hub.send(event)
        // About as long as the handler needs to find that nothing more waits.
        for _ in 0..<(event % 64) { _ = subscription.isActive }
      }
    }
    await hub.flush()
    #expect(journal.entries == Array(0..<count))
    #expect(overlaps.value == 0)
    #expect(subscription.statistics?.delivered == count)
  }
}
