import Multicast
import MulticastTestSupport
import Testing

@Suite("Asynchronous handlers run one at a time, or up to a limit")
struct AsyncHandlerTests {
  @Test("one at a time, in send order, though each suspends")
  func oneAtATime() async {
    let hub = EventHub<Int>()
    let journal = Journal()
    let running = Counter()
    let overlaps = Counter()
    let subscription = hub.subscribe { value in
      running.add()
      if running.value != 1 { overlaps.add() }
      await Task.yield()
      journal.record(value)
      running.add(-1)
    }
    for value in 0..<500 { #expect(hub.send(value) == 1) }
    await eventually { journal.entries.count == 500 }
    #expect(journal.entries == Array(0..<500))
    #expect(overlaps.value == 0)
    await eventually { subscription.statistics?.delivered == 500 }
  }

  @Test("as many calls as the limit run at once, and no more", arguments: [2, 5])
  func limit(limit: Int) async {
    let hub = EventHub<Int>()
    let gate = AsyncGate()
    let running = Counter()
    let journal = Journal()
    let subscription = hub.subscribe(maxConcurrentCalls: limit) { value in
      running.add()
      await gate.wait()
      running.add(-1)
      journal.record(value)
    }
    for value in 0..<20 { hub.send(value) }
    await eventually { running.value == limit }
    #expect(subscription.statistics?.pending == 20)
    for _ in 0..<100 { await Task.yield() }
    #expect(running.value == limit)
    gate.open()
    await eventually { subscription.statistics?.delivered == 20 }
    #expect(journal.entries.sorted() == Array(0..<20))
    #expect(running.value == 0)
  }

  @Test("a call that is running delays cancelAndWait, on every worker")
  func cancelAndWait() async {
    let hub = EventHub<Int>()
    let gate = AsyncGate()
    let running = Counter()
    let subscription = hub.subscribe(maxConcurrentCalls: 3) { _ in
      running.add()
      await gate.wait()
      running.add(-1)
    }
    for value in 0..<10 { hub.send(value) }
    await eventually { running.value == 3 }
    let isOver = Counter()
    let waiting = Task {
      await subscription.cancelAndWait()
      #expect(running.value == 0)
      isOver.add()
    }
    await eventually { !subscription.isActive }
    #expect(isOver.value == 0)
    gate.open()
    await waiting.value
    #expect(subscription.statistics?.delivered == 3)
    #expect(subscription.statistics?.discarded == 7)
  }

  @Test("sendWaiting waits for the handler, and finish delivers what waits")
  func backpressure() async {
    let hub = EventHub<Int>()
    let journal = Journal()
    let subscription = hub.subscribe(buffering: .bounded(1, whenFull: .suspend)) { value in
      await Task.yield()
      journal.record(value)
    }
    for value in 0..<200 { #expect(await hub.sendWaiting(value)) }
    hub.finish()
    await eventually { !subscription.isActive }
    #expect(journal.entries == Array(0..<200))
    #expect(subscription.end == .finished)
  }

  @Test("the replay comes first", arguments: [1, 4])
  func replay(limit: Int) async {
    let hub = EventHub<Int>(replay: 5)
    for value in 0..<10 { hub.send(value) }
    let journal = Journal()
    let subscription = hub.subscribe(maxConcurrentCalls: limit) { value in journal.record(value) }
    hub.send(10)
    await eventually { subscription.statistics?.delivered == 6 }
    #expect(journal.entries.sorted() == Array(5..<11))
    if limit == 1 { #expect(journal.entries == Array(5..<11)) }
  }

  @Test("a limit of 0 is a precondition failure that names it")
  func limitOfZero() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let hub = EventHub<Int>()
      _ = hub.subscribe(maxConcurrentCalls: 0) { _ in await Task.yield() }
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains("maxConcurrentCalls is 0"))
  }
}
