import MulticastTestSupport
import Testing

@testable import Multicast

/// What a size closure does while a hub keeps an event, by the number of its call.
private final class SizeAction: @unchecked Sendable {
  // Sendable: one thread uses it.
  var hub: TopicHub<String, Int>?
  var reader: TopicReader<Int>?
  let told = Counter()
  private var calls = 0

  /// A hub that runs `action` before it keeps its event with this number.
  func makeHub(
    at number: Int = 1, ordering: Ordering = .perSender,
    _ action: @escaping (SizeAction) -> Void
  ) -> TopicHub<String, Int> {
    let box = UncheckedAction { [self] in action(self) }
    let retention = Retention<Int>.bytes(100) { [self] _ in
      calls += 1
      if calls == number { box.run() }
      return 1
    }
    let made = TopicHub(retention: retention, ordering: ordering)
    hub = made
    return made
  }

  /// Subscribes to a topic, and reads until it has to be told of more.
  func subscribe() {
    reader = hub?.reader(for: ["a"], from: .live) { [told] in told.add() }
    while reader?.nextIfAvailable() != nil {}
  }

  func end() {
    reader = nil
    hub = nil
  }
}

private struct UncheckedAction: @unchecked Sendable {
  // Sendable: one thread uses it.
  let run: () -> Void
}

@Suite("A hub of topics that retains: what happens while an event is being sent")
struct TopicRetentionRaceTests {
  @Test(
    "a subscriber that comes after the lookup of the topic is told of the event",
    arguments: Ordering.allCases, [false, true])
  func told(ordering: Ordering, hasOther: Bool) async {
    let ways: [(TopicHub<String, Int>) async -> Void] = [
      { $0.publish(1, to: "a") }, { $0.send(1, to: "a") },
      { $0.send(contentsOf: [1], to: "a") }, { #expect($0.trySend(1, to: "a")) },
      { await $0.sendWaiting(1, to: "a") },
    ]
    for way in ways {
      let action = SizeAction()
      let hub = action.makeHub(ordering: ordering) { $0.subscribe() }
      let other = hasOther ? hub.subscribe(to: "a") { _ in } : nil
      await way(hub)
      #expect(action.told.value == 1)
      #expect(action.reader?.nextIfAvailable()?.event?.event == 1)
      action.end()
      withExtendedLifetime(other) {}
    }
  }

  @Test("a subscriber that comes during a batch is told of its rest", arguments: Ordering.allCases)
  func batch(ordering: Ordering) {
    let action = SizeAction()
    let hub = action.makeHub(at: 2, ordering: ordering) { $0.subscribe() }
    hub.send(contentsOf: [1, 2, 3], to: "a")
    #expect(action.told.value == 1)
    #expect(action.reader?.nextIfAvailable()?.event?.event == 2)
    #expect(action.reader?.nextIfAvailable()?.event?.event == 3)
    action.end()
  }

  @Test("the topic ends and begins again between the lookup and the event: trySend tells, too")
  func otherHub() {
    let action = SizeAction()
    let hub = action.makeHub {
      $0.hub?.finish("a")
      $0.subscribe()
    }
    let first = hub.subscribe(to: "a") { _ in Issue.record("the topic has finished") }
    #expect(hub.trySend(1, to: "a"))
    #expect(action.told.value == 1)
    #expect(action.reader?.nextIfAvailable()?.event?.event == 1)
    action.end()
    withExtendedLifetime(first) {}
  }

  @Test("the hub finishes while an event is being sent: it is refused and not kept")
  func finished() async {
    let ways: [(TopicHub<String, Int>) async -> Bool] = [
      { $0.publish(1, to: "a") != nil }, { $0.send(1, to: "a") > 0 },
      { $0.trySend(1, to: "a") }, { await $0.sendWaiting(1, to: "a") },
    ]
    for way in ways {
      for hasSubscriber in [false, true] {
        let action = SizeAction()
        let hub = action.makeHub { $0.hub?.finish() }
        let sequence = hasSubscriber ? hub.events(for: "a") : nil
        let early = hub.events(for: "b", from: .live)
        #expect(await way(hub) == false)
        #expect(hub.retainedAmount.events == 0)
        #expect(await early.first { _ in true } == nil)
        if let sequence { #expect(await sequence.first { _ in true } == nil) }
        action.end()
      }
    }
  }

  @Test(
    "a thread that subscribes may end the others before the one that finishes the hub: nothing is kept",
    arguments: [false, true], [false, true])
  func finishedBySubscriber(byName: Bool, isLate: Bool) throws {
    let action = SizeAction()
    func read() {
      let told = action.told
      action.reader =
        byName
        ? action.hub?.reader(for: ["a"], from: .live) { told.add() }
        : action.hub?.reader(matching: ["*"], from: .live) { told.add() }
      #expect(action.reader?.nextIfAvailable() == nil)
    }
    let hub = action.makeHub { action in
      guard let hub = action.hub else { return }
      // What the thread that finishes the hub does first.
      let begin = { #expect(hub.gate.complete(nil)) }
      // Another thread subscribes, or has begun to.
      if isLate {
        begin()
        read()
      } else if byName {
        hub.withHub(of: "a") { _ in begin() }
      } else {
        hub.withHub(matching: ["*"]) { _ in begin() }
      }
    }
    if !isLate { read() }
    #expect(hub.publish(1, to: "a") == nil)
    #expect(action.reader?.nextIfAvailable() == nil && action.reader?.end == .finished)
    #expect(hub.retainedAmount.events == 0)
    action.end()
  }

  @Test("the topic finishes before a subscriber receives an event that is kept: it was sent")
  func topicFinishedAfterwards() async {
    for retains in [false, true] {
      let hub = retains ? TopicHub<String, Int>(retention: .last(1)) : TopicHub()
      let subscription = hub.subscribe(
        to: "a", on: .sender,
        where: { [weak hub] _ in
          hub?.finish("a")
          return true
        }
      ) { _ in Issue.record("the topic has finished") }
      let reader = retains ? hub.reader(for: ["a", "b"], from: .live) {} : nil
      #expect(await hub.sendWaiting(1, to: "a") == retains)
      #expect(reader?.nextIfAvailable()?.event?.event == (retains ? 1 : nil))
      #expect(subscription.end == .finished)
    }
  }

  @Test("a topic finishes again and again: what is kept is sent", arguments: Ordering.allCases)
  func topicFinishesOften(ordering: Ordering) async {
    let hub = TopicHub<String, Int>(retention: .last(1), ordering: ordering)
    let (received, isOver) = (Counter(), Guarded(false))
    let subscription = hub.subscribe(matching: ["*"], on: .sender) { _ in received.add() }
    let finisher = Task {
      while !isOver.withLock({ $0 }) {
        hub.finish("a")
        await Task.yield()
      }
    }
    let senders = (0..<2).map { _ in
      Task {
        var sent = 0
        for event in 0..<5_000 where await hub.sendWaiting(event, to: "a") { sent += 1 }
        return sent
      }
    }
    for sender in senders { #expect(await sender.value == 5_000) }
    isOver.withLock { $0 = true }
    await finisher.value
    #expect(received.value == 10_000 && hub.newestPosition.number == 10_000)
    withExtendedLifetime(subscription) {}
  }

  @Test("the hub finishes when it has kept an event, for which an older one leaves: it was sent")
  func finishedAfterwards() async {
    final class Leaving: Sendable {
      let action: @Sendable () -> Void
      init(_ action: @escaping @Sendable () -> Void) { self.action = action }
      deinit { action() }
    }
    let ways: [(TopicHub<String, Leaving>) async -> Bool] = [
      { $0.publish(Leaving {}, to: "a") != nil }, { $0.trySend(Leaving {}, to: "a") },
      { await $0.sendWaiting(Leaving {}, to: "a") },
    ]
    for way in ways {
      let hub = TopicHub<String, Leaving>(retention: .last(1))
      let reader = hub.reader(for: ["b", "a"], from: .live) {}
      hub.send(Leaving { [weak hub] in hub?.finish() }, to: "a")
      #expect(reader.nextIfAvailable()?.event != nil)
      #expect(await way(hub))
      #expect(reader.nextIfAvailable()?.event != nil, "it is kept")
      #expect(reader.nextIfAvailable() == nil && reader.end == .finished)
    }
  }

  @Test("beside subscriptions that end at once: every event is kept", .timeLimit(.minutes(10)))
  func gate() {
    let hub = TopicHub<String, Int>(retention: .last(1))
    let count = 20_000
    let barrier = StartBarrier(3)
    runThreads(3) { thread in
      barrier.arriveAndWait()
      for event in 0..<count {
        if thread == 0 {
          hub.send(event, to: "a")
        } else {
          _ = hub.subscribe(matching: "*", options: [.once]) { _ in }
        }
      }
    }
    #expect(hub.newestPosition.number == UInt64(count))
  }

  @Test("sizes of two topics that are larger together than a number can be")
  func largeSizes() async {
    let total = Retention<Int>.bytes(1000) { $0 < 0 ? .max : $0 }
    let hub = TopicHub<String, Int>(retention: .last(10), total: total)
    hub.send(500, to: "a")
    hub.send(-1, to: "b")
    #expect(hub.retainedAmount == RetainedAmount(events: 0, topics: 0, bytes: 0))
    let unlimited = TopicHub<String, Int>(retention: .bytes(.max) { _ in .max })
    for topic in ["a", "b", "a"] { unlimited.send(1, to: topic) }
    #expect(unlimited.retainedAmount == RetainedAmount(events: 2, topics: 2, bytes: .max))
  }

  @Test("what a slow subscriber misses before its first read is counted")
  func firstRead() {
    let hub = TopicHub<String, Int>(retention: .last(1))
    let reader = hub.reader(for: ["a"], from: .live) {}
    for event in 1...3 { hub.send(event, to: "a") }
    guard case .missed(let missed, of: "a")? = reader.nextIfAvailable() else {
      Issue.record("nothing was missed")
      return
    }
    #expect(missed.count == 2)
    #expect(reader.nextIfAvailable()?.event?.event == 3)
    #expect(hub.droppedEvents == 2)
    let statistics = hub.snapshot.receivers[0].statistics
    #expect(statistics?.delivered == 1 && statistics?.dropped == 2)
  }

  /// An event whose `deinit` runs `action`, if it runs on the main actor.
  private final class Parting: Sendable {
    let action: @MainActor @Sendable () -> Void
    init(_ action: @escaping @MainActor @Sendable () -> Void) { self.action = action }
    deinit { if MainQueue.isCurrent { MainActor.assumeIsolated { action() } } }
  }

  @MainActor private final class Box {
    var reader: TopicReader<Parting>?
    var reads = 0
    var elements = 0

    func read() {
      reads += 1
      if reader?.nextIfAvailable() != nil { elements += 1 }
    }
  }

  @Test("the `deinit` of an event that leaves may use the reader that has found it too old")
  @MainActor func readerInDeinit() async throws {
    let hub = TopicHub<String, Parting>(retention: .seconds(0.01))
    let box = Box()
    hub.send(Parting { box.read() }, to: "a")
    box.reader = hub.reader(for: ["a"], from: .live) {}
    // Until the event is too old: nothing but time makes it so.
    try await Task.sleep(for: .milliseconds(40))
    #expect(box.reader?.nextIfAvailable() == nil)
    #expect(box.reads == 1 && box.elements == 0)
    box.reader = nil
  }

  @Test("if it takes what was read, the reader is told of the next event all the same")
  @MainActor func everythingIsReadInDeinit() async throws {
    let hub = TopicHub<String, Parting>(retention: .seconds(0.01))
    let box = Box()
    let told = Counter()
    box.reader = hub.reader(for: ["a"], from: .live) { told.add() }
    #expect(box.reader?.nextIfAvailable() == nil)
    hub.send(Parting { box.read() }, to: "a")
    #expect(told.value == 1)
    try await Task.sleep(for: .milliseconds(40))  // As above.
    #expect(box.reader?.nextIfAvailable() == nil)
    #expect(box.reads == 1 && box.elements == 1, "the range of the event")
    hub.send(Parting {}, to: "a")
    #expect(told.value == 2)
    box.reader = nil
  }

  /// An external log whose pages have one event each.
  private struct SinglePages: ExternalLog {
    let event: @Sendable () -> Parting

    func page(
      of topics: [String], after position: EventPosition, through last: UInt64
    ) async -> ExternalPage<Parting>? {
      let number = position.number + 1
      return ExternalPage(
        [.init(topic: topics[0], event: event(), number: number)], through: number)
    }

    func contains(_ position: EventPosition) async -> Bool? { true }
  }

  @Test("the `deinit` of an event of an external log may use the reader", arguments: [false, true])
  @MainActor func readerInDeinitOfPage(isCancelled: Bool) async {
    let box = Box()
    var given: ExternalLogWriter<Parting>?
    let hub = TopicHub<String, Parting>(retention: .last(10)) { writer in
      given = writer
      return SinglePages { Parting { box.read() } }
    }
    given?.begin(epoch: 7, after: 0)
    given?.skip(through: 3)
    let told = Counter()
    let start = EventPosition(epoch: 7, number: 0)
    box.reader = hub.reader(for: ["a"], from: .after(start)) { told.add() }
    var events = 0
    while events + box.elements < (isCancelled ? 1 : 3) {
      if box.reader?.nextIfAvailable()?.event != nil { events += 1 }
      await Task.yield()
    }
    let before = told.value
    if isCancelled {
      box.reader?.cancel()
      #expect(box.reader?.end == .cancelled)
    } else {
      #expect(box.reader?.nextIfAvailable() == nil)
      given?.deliver(Parting {}, to: "a", number: 4)
      // The notice of the page may also come only now.
      #expect(told.value > before)
      #expect(box.reader?.nextIfAvailable()?.event != nil)
    }
    #expect(box.reads > 0)
    box.reader = nil
  }

  @Test("a reader is told of the range that an external log has delivered during a block")
  func blockedLog() {
    struct Suite: ExternalLogSuite {}
    let (hub, writer) = Suite().make(Broker())
    writer.begin(epoch: 7, after: 0)
    let told = Counter()
    let reader = hub.reader(for: ["a"], from: .live) { told.add() }
    while reader.nextIfAvailable() != nil {}
    let before = told.value
    hub.block()
    writer.deliver(1, to: "a", number: 1)
    writer.deliver(2, to: "a", number: 2)
    #expect(told.value == before)
    hub.unblock()
    #expect(told.value == before + 1)
    guard case .missed(let range, of: nil)? = reader.nextIfAvailable() else {
      Issue.record("no range")
      return
    }
    #expect(range.after.number == 0 && range.through.number == 2)
  }
}
