import Multicast
import MulticastTestSupport
import Synchronization
import Testing

@Suite("A waiting sender learns what became of its event, and every dropped event is counted")
struct SendWaitingTests {
  @Test(
    "events that senders wait with when the hub finishes are delivered, in order",
    arguments: Ordering.allCases)
  func finishDeliversParked(_ ordering: Ordering) async {
    let hub = EventHub<Int>(ordering: ordering)
    let iterator = hub.events(buffering: .bounded(1, whenFull: .suspend)).makeAsyncIterator()
    hub.send(0)
    var senders: [Task<Bool, Never>] = []
    for event in 1...5 {
      senders.append(Task { await hub.sendWaiting(event) })
      await eventually { hub.statistics.pending == event + 1 }
    }
    hub.finish()
    for sender in senders { #expect(await sender.value) }
    #expect(await !hub.sendWaiting(6))
    var received: [Int] = []
    while let event = await iterator.next() { received.append(event) }
    #expect(received == Array(0...5))
    let statistics = iterator.statistics
    #expect(statistics.delivered == 6 && statistics.enqueued == 6 && statistics.pending == 0)
    #expect(hub.statistics.dropped == 0 && hub.statistics.refused == 1)
    #expect(iterator.end == .finished)
  }

  @Test("a cancelled sender learns it, and its event is noted where it would have been")
  func cancelledSender() async {
    let hub = EventHub<Int>()
    var iterator = hub.events(buffering: .bounded(1, whenFull: .suspend)).notingDrops()
      .makeAsyncIterator()
    hub.send(0)
    var senders: [Task<Bool, Never>] = []
    for event in 1...3 {
      senders.append(Task { await hub.sendWaiting(event) })
      await eventually { hub.statistics.pending == event + 1 }
    }
    senders[1].cancel()
    #expect(await !senders[1].value)
    hub.finish()
    #expect(await senders[0].value)
    #expect(await senders[2].value)
    var notes: [String] = []
    while let element = await iterator.next() { notes.append("\(element)") }
    #expect(notes == ["event(0)", "event(1)", "dropped(1)", "event(3)"])
    #expect(hub.statistics.dropped == 1)
  }

  @Test("what a policy drops, and a hub without subscribers, are no failure; a finished hub is")
  func results() async {
    let hub = EventHub<Int>()
    #expect(await hub.sendWaiting(0))
    let newest = hub.events(buffering: .bounded(1, whenFull: .dropNewest))
    #expect(await hub.sendWaiting(1))
    #expect(await hub.sendWaiting(2))
    #expect(hub.statistics.dropped == 1)
    hub.finish()
    #expect(await !hub.sendWaiting(3))
    withExtendedLifetime(newest) {}

    let topics = TopicHub<Int, Int>()
    #expect(await topics.sendWaiting(0, to: 1))
    let iterator = topics.events(for: 1, buffering: .bounded(1, whenFull: .suspend))
      .makeAsyncIterator()
    #expect(await topics.sendWaiting(1, to: 1))
    let sender = Task { await topics.sendWaiting(2, to: 1) }
    await eventually { topics.statistics(for: 1)?.pending == 2 }
    topics.finish()
    #expect(await sender.value)
    #expect(await !topics.sendWaiting(3, to: 1))
    #expect(await iterator.next() == 1)
    #expect(await iterator.next() == 2)
    #expect(await iterator.next() == nil)
  }

  @Test("an event that reaches no subscriber while the hub finishes is refused, unless it is kept")
  func finishDuringDelivery() async {
    for replay in 0...1 {
      let hub = EventHub<Int>(replay: replay)
      let sequence = hub.events { [weak hub] _ in
        hub?.finish()
        return false
      }
      #expect(await hub.sendWaiting(7) == (replay == 1))
      #expect(hub.statistics.refused == 1 - replay)
      var kept: [Int] = []
      for await event in hub.events() { kept.append(event) }
      #expect(kept == Array(repeating: 7, count: replay))
      withExtendedLifetime(sequence) {}
    }
  }

  /// How the race ends.
  enum End: CaseIterable {
    case senderCancelled
    case consumerCancelled
    case hubFinished
    case senderCancelledAndHubFinished
  }

  @Test(
    "in every race of send, cancel and finish the numbers add up",
    arguments: End.allCases, Ordering.allCases)
  func races(_ end: End, _ ordering: Ordering) async {
    let tracker = LifetimeTracker()
    for round in 0..<300 {
      await race(end, ordering, round, tracker)
      #expect(tracker.live == 0)
    }
  }

  private func race(_ end: End, _ ordering: Ordering, _ round: Int, _ tracker: LifetimeTracker)
    async
  {
    let (senders, events) = (2, 4)
    let hub = EventHub<RecordingObserver>(ordering: ordering)
    let sequence = hub.events(buffering: .bounded(1, whenFull: .suspend))
    let consumer = Task {
      let iterator = sequence.makeAsyncIterator()
      var received = 0
      while await iterator.next() != nil { received += 1 }
      return (received, iterator.statistics)
    }
    let sending = (0..<senders).map { _ in
      Task {
        var taken = 0
        for event in 0..<events {
          if await hub.sendWaiting(RecordingObserver(event, tracker: tracker)) { taken += 1 }
        }
        return taken
      }
    }
    for _ in 0..<round % 16 { await Task.yield() }
    switch end {
    case .senderCancelled: sending[0].cancel()
    case .consumerCancelled: consumer.cancel()
    case .hubFinished: hub.finish()
    case .senderCancelledAndHubFinished:
      async let finished: Void = hub.finish()
      sending[0].cancel()
      await finished
    }
    var taken = 0
    for task in sending { taken += await task.value }
    hub.finish()
    let (received, statistics) = await consumer.value
    let sent = senders * events
    let counts = hub.statistics
    #expect(statistics.delivered == received)
    #expect(statistics.pending == 0)
    #expect(counts.pending == 0)
    #expect(
      statistics.enqueued == statistics.delivered + statistics.dropped + statistics.discarded)
    #expect(counts.dropped == statistics.dropped)
    switch end {
    case .consumerCancelled:
      // An event may also have found no subscriber, before the hub finished.
      #expect(taken == sent && statistics.enqueued <= sent)
      #expect(statistics.dropped == 0 && counts.refused == 0)
    default:
      // Each event was accepted and delivered, or the sender was told otherwise.
      #expect(taken == received)
      #expect(received + counts.dropped + counts.refused == sent)
      #expect(statistics.dropped <= (end == .hubFinished ? 0 : events))
      #expect(end != .senderCancelled || counts.refused == 0)
    }
  }
}
