import MulticastTestSupport
import Testing

@testable import Multicast

@Suite("A consumer takes what waits without suspending, and gives up a wait, not the subscription")
struct PollingTests {
  typealias Iterator = EventSequence<Int>.Iterator

  @Test("nextIfAvailable: every event that waits, in order, and nil otherwise")
  func available() async {
    for hub in [EventHub<Int>(), EventHub(ordering: .total), EventHub(replay: 2)] {
      let iterator = hub.events().makeAsyncIterator()
      #expect(iterator.nextIfAvailable() == nil)
      for event in 0..<200 { hub.send(event) }
      #expect(takeAvailable(iterator) == Array(0..<200))
      #expect(iterator.end == nil)
      hub.send(200)
      #expect(await iterator.next() == 200)
      hub.send(201)
      hub.finish()
      #expect(iterator.end == .finished)
      #expect(iterator.nextIfAvailable() == 201)
      #expect(iterator.nextIfAvailable() == nil)
      #expect(await iterator.next() == nil)
      #expect(iterator.statistics.pending == 0 && hub.subscriberCount == 0)
    }
  }

  @Test("nextIfAvailable does not suspend, whatever next has spent; a flush sees that it asked")
  func doesNotSuspend() async {
    let hub = EventHub<Int>()
    let iterator = hub.events().makeAsyncIterator()
    for event in 0..<100 { hub.send(event) }
    for event in 0..<64 { #expect(await iterator.next() == event) }
    #expect(takeAvailable(iterator) == Array(64..<100))
    #expect(await onOwnThread { hub.flush(timeout: .zero) })
  }

  @Test("in a cancelled task it returns nil and ends the subscription")
  func cancelled() async {
    let hub = EventHub<Int>()
    let sequence = hub.events()
    hub.send(0)
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      let iterator = sequence.makeAsyncIterator()
      return (iterator.nextIfAvailable(), iterator.end)
    }
    task.cancel()
    let (event, end) = await task.value
    #expect(event == nil && end == .cancelled)
    #expect(hub.subscriberCount == 0)
  }

  @Test("a wait that times out keeps the subscription, and loses no event")
  func timeout() async {
    let hub = EventHub<Int>()
    let iterator = hub.events().makeAsyncIterator()
    #expect(await iterator.next(timeout: .milliseconds(1)) == .timedOut)
    #expect(await iterator.next(timeout: .zero) == .timedOut)
    #expect(await iterator.next(timeout: .seconds(-1)) == .timedOut)
    #expect(iterator.end == nil && hub.subscriberCount == 1)
    hub.send(1)
    hub.send(2)
    #expect(await iterator.next(timeout: .zero) == .event(1))
    #expect(await iterator.next(timeout: .seconds(100 * 366 * 86_400)) == .event(2))
    #expect(await iterator.next(timeout: .milliseconds(1)) == .timedOut)
    hub.finish()
    #expect(await iterator.next(timeout: .zero) == .ended)
    #expect(await iterator.next(timeout: .seconds(60)) == .ended)
  }

  @Test("an event, the end, or a cancellation during the wait")
  func duringTheWait() async {
    let hub = EventHub<Int>()
    let iterator = hub.events().makeAsyncIterator()
    let sender = Task { _ = hub.send(1) }
    #expect(await iterator.next(timeout: .seconds(100)) == .event(1))
    await sender.value
    let finisher = Task { hub.finish() }
    #expect(await iterator.next(timeout: .seconds(100)) == .ended)
    await finisher.value

    let other = EventHub<Int>()
    let sequence = other.events()
    let task = Task { await sequence.makeAsyncIterator().next(timeout: .seconds(100)) }
    await Task.yield()
    task.cancel()
    #expect(await task.value == .ended)
    #expect(other.subscriberCount == 0)
  }

  @Test("events race with timeouts: each event is received once, in order")
  func race() async {
    let hub = EventHub<Int>()
    let iterator = hub.events().makeAsyncIterator()
    let count = 2_000
    let sender = Task.detached {
      for event in 0..<count {
        hub.send(event)
        if event % 3 == 0 { await Task.yield() }
      }
      hub.finish()
    }
    var received: [Int] = []
    var timeouts = 0
    loop: while true {
      switch await iterator.next(timeout: .microseconds(received.count % 50)) {
      case .event(let event): received.append(event)
      case .timedOut: timeouts += 1
      case .ended: break loop
      }
    }
    #expect(received == Array(0..<count))
    #expect(iterator.statistics.delivered == count && iterator.end == .finished)
    await sender.value
  }

  @Test("tasks of one actor: the timeout of one does not end the wait of another")
  func sharedIterator() async {
    let hub = EventHub<Int>()
    let taker = Taker(hub.events().makeAsyncIterator())
    async let patient = taker.next(timeout: .seconds(200))
    #expect(await taker.next(timeout: .milliseconds(1)) == .timedOut)
    #expect(await taker.next(timeout: .zero) == .timedOut)
    hub.send(7)
    #expect(await patient == .event(7))
  }

  private actor Taker {
    let iterator: Iterator

    init(_ iterator: sending Iterator) { self.iterator = iterator }

    func next(timeout: Duration) async -> EventSequence<Int>.TimedResult {
      await iterator.next(timeout: timeout)
    }
  }

  private func takeAvailable(_ iterator: Iterator) -> [Int] {
    var events: [Int] = []
    while let event = iterator.nextIfAvailable() { events.append(event) }
    return events
  }
}
