import Multicast
import MulticastTestSupport
import Testing

/// An actor, several tasks of which await the next event of one iterator.
private actor Taker {
  private let iterator: EventSequence<Int>.Iterator
  private let noting: EventSequence<Int>.Noting.Iterator
  private(set) var received: [Int] = []
  private(set) var missed = 0
  /// How many calls have begun, and how many have ended with `nil`.
  private(set) var begun = 0
  private(set) var ended = 0

  init(_ sequence: EventSequence<Int>) {
    // The first takes the subscription over; only one of them is used.
    iterator = sequence.makeAsyncIterator()
    noting = EventHub<Int>().events().notingDrops().makeAsyncIterator()
  }

  init(_ sequence: EventSequence<Int>.Noting) {
    iterator = EventHub<Int>().events().makeAsyncIterator()
    noting = sequence.makeAsyncIterator()
  }

  func take() async {
    begun += 1
    if let event = await iterator.next() { received.append(event) } else { ended += 1 }
  }

  func takeNoted() async {
    begun += 1
    var copy = noting
    switch await copy.next() {
    case .event(let event): received.append(event)
    case .dropped(let count): missed += count
    case nil: ended += 1
    }
  }

  /// Cancels a task, and sends before another task runs on this actor.
  func cancel(_ task: Task<Void, Never>, beforeSending event: Int, to hub: EventHub<Int>) {
    task.cancel()
    hub.send(event)
  }

  func takeAll(notes: Bool) async {
    while ended == 0 {
      if notes { await takeNoted() } else { await take() }
    }
  }
}

@Suite("Tasks of one actor that await one iterator: each event goes to one of them, none hangs")
struct SharedIteratorTests {
  private func taker(_ hub: EventHub<Int>, notes: Bool) -> Taker {
    let sequence = hub.events()
    return notes ? Taker(sequence.notingDrops()) : Taker(sequence)
  }

  /// Tasks each of which awaits one element, and sleeps.
  private func sleeping(_ count: Int, _ taker: Taker, notes: Bool) async -> [Task<Void, Never>] {
    var tasks: [Task<Void, Never>] = []
    for index in 0..<count {
      tasks.append(Task { if notes { await taker.takeNoted() } else { await taker.take() } })
      while await taker.begun <= index { await Task.yield() }
    }
    return tasks
  }

  @Test("one event for each", arguments: [false, true])
  func oneEach(_ notes: Bool) async {
    let hub = EventHub<Int>()
    let taker = taker(hub, notes: notes)
    let tasks = await sleeping(3, taker, notes: notes)
    for event in 0..<3 { hub.send(event) }
    for task in tasks { await task.value }
    #expect(await taker.received.sorted() == [0, 1, 2])
    #expect(await taker.ended == 0)
  }

  @Test("at the end each gets nil", arguments: [false, true])
  func end(_ notes: Bool) async {
    let hub = EventHub<Int>()
    let taker = taker(hub, notes: notes)
    let tasks = await sleeping(3, taker, notes: notes)
    hub.send(7)
    hub.finish()
    for task in tasks { await task.value }
    #expect(await taker.received == [7])
    #expect(await taker.ended == 2)
  }

  @Test("cancelling one ends the subscription: each gets nil", arguments: [false, true], 0..<3)
  func cancel(_ notes: Bool, _ index: Int) async {
    let hub = EventHub<Int>()
    let taker = taker(hub, notes: notes)
    let tasks = await sleeping(3, taker, notes: notes)
    tasks[index].cancel()
    for task in tasks { await task.value }
    #expect(await taker.ended == 3)
    #expect(hub.subscriberCount == 0)
    #expect(hub.send(1) == 0)
  }

  @Test("the same if an event comes before the others have run", arguments: [false, true], 0..<3)
  func cancelBeforeAnEvent(_ notes: Bool, _ index: Int) async {
    let hub = EventHub<Int>()
    let taker = taker(hub, notes: notes)
    let tasks = await sleeping(3, taker, notes: notes)
    await taker.cancel(tasks[index], beforeSending: 7, to: hub)
    for task in tasks { await task.value }
    #expect(await taker.received == [])
    #expect(await taker.ended == 3)
    #expect(hub.subscriberCount == 0)
  }

  @Test("after the end of the hub, too: none gets what is left", arguments: [false, true])
  func cancelAfterTheEnd(_ notes: Bool) async {
    let hub = EventHub<Int>()
    let sequence = hub.events(buffering: .bounded(2, whenFull: .dropNewest))
    let taker = notes ? Taker(sequence.notingDrops()) : Taker(sequence)
    for event in 0..<4 { hub.send(event) }
    hub.finish()
    if notes { await taker.takeNoted() } else { await taker.take() }
    let cancelled = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      if notes { await taker.takeNoted() } else { await taker.take() }
    }
    await cancelled.value
    if notes { await taker.takeNoted() } else { await taker.take() }
    #expect(await taker.received == [0])
    #expect(await taker.ended == 2)
    #expect(await taker.missed == 0, "what was dropped after the last event")
  }

  @Test("while events are sent, all come, each once", arguments: [false, true])
  func all(_ notes: Bool) async {
    for _ in 0..<20 {
      let hub = EventHub<Int>()
      let taker = taker(hub, notes: notes)
      let tasks = (0..<4).map { _ in Task { await taker.takeAll(notes: notes) } }
      await onOwnThread {
        for event in 0..<500 { hub.send(event) }
        hub.finish()
      }
      for task in tasks { await task.value }
      #expect(await taker.received.sorted() == Array(0..<500))
      #expect(hub.statistics.pending == 0)
    }
  }

  @Test("cancelling one while events are sent hangs none", arguments: [false, true])
  func cancelWhileSending(_ notes: Bool) async {
    for round in 0..<200 {
      let hub = EventHub<Int>()
      let taker = taker(hub, notes: notes)
      let tasks = (0..<3).map { _ in Task { await taker.takeAll(notes: notes) } }
      async let sent: Void = onOwnThread { for event in 0..<50 { hub.send(event) } }
      for _ in 0..<round % 8 { await Task.yield() }
      tasks[round % 3].cancel()
      await sent
      for task in tasks { await task.value }
      #expect(hub.subscriberCount == 0)
      let received = await taker.received
      #expect(received == Array(0..<received.count))
    }
  }

  @Test("a note and the event behind it reach two tasks")
  func noteAndEvent() async {
    let hub = EventHub<Int>()
    let taker = Taker(hub.events(buffering: .latest).notingDrops())
    for event in 0..<4 { hub.send(event) }
    await taker.takeNoted()
    #expect(await taker.missed == 3)
    await taker.takeNoted()
    #expect(await taker.received == [3])
  }
}
