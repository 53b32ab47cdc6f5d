import Dispatch
import Multicast
import MulticastTestSupport
import Synchronization
import Testing

/// An event with a key.
private struct Keyed: Sendable, Hashable {
  var key: Int
  var value: Int
}

private func all<Event: Sendable>(_ sequence: EventSequence<Event>) async -> [Event] {
  var events: [Event] = []
  for await event in sequence { events.append(event) }
  return events
}

@Suite("The beginning and the end of a subscription meet events and the end of the hub")
struct BeginningAndEndTests {
  // The filter of a subscriber runs between its admission and its replay: it stands for what
  // another thread does at that moment.

  @Test("a live event that comes before the replay is coalesced with its own key alone")
  func coalescingDuringReplay() async {
    let hub = EventHub<Keyed>(replay: 2)
    hub.send(Keyed(key: 0, value: 1))
    hub.send(Keyed(key: 1, value: 1))
    let isFirst = Atomic(true)
    let sequence = hub.events(buffering: .coalescing(by: \.key)) { _ in
      if isFirst.exchange(false, ordering: .relaxed) { hub.send(Keyed(key: 0, value: 2)) }
      return true
    }
    hub.send(Keyed(key: 0, value: 3))
    hub.finish()
    let events = await all(sequence)
    #expect(
      events == [Keyed(key: 0, value: 1), Keyed(key: 1, value: 1), Keyed(key: 0, value: 3)])
  }

  @Test("a hub that finishes during subscribe: the replay and what was sent are delivered")
  func finishDuringReplay() async {
    let hub = EventHub<Int>(replay: 1)
    hub.send(1)
    let isFirst = Atomic(true)
    let sequence = hub.events { _ in
      if isFirst.exchange(false, ordering: .relaxed) {
        hub.send(2)
        hub.finish()
      }
      return true
    }
    #expect(await all(sequence) == [1, 2])
  }

  @Test("what was sent before finish is delivered, in each order", arguments: Ordering.allCases)
  func sentBeforeFinish(_ ordering: Ordering) async {
    let hub = EventHub<Int>(ordering: ordering)
    let sequence = hub.events()
    let subscription = hub.subscribe { event in
      guard event == 1 else { return }
      #expect(hub.send(2) > 0)
      hub.finish()
    }
    hub.send(1)
    #expect(await all(sequence) == [1, 2])
    withExtendedLifetime(subscription) {}
  }

  @Test("subscribing after finish leaves nothing behind, replay or not", arguments: [0, 1])
  func subscribingAfterFinish(_ replay: Int) async {
    let journal = Journal()
    let hub = EventHub<Int>(
      replay: replay, onFirstSubscriber: { journal.record(1) },
      onLastSubscriber: { journal.record(0) })
    hub.finish()
    let owner = RecordingObserver()
    let inline = hub.subscribe(with: owner) { _, _ in }
    let queued = hub.subscribe(with: owner, on: .global()) { _, _ in }
    await eventually { !inline.isActive && !queued.isActive }
    await eventually { journal.entries.count % 2 == 0 && journal.entries.last == 0 }
  }

  @Test("a sequence does not keep its hub: the end of the hub ends a task that captures it")
  func sequenceOfAHubThatIsGone() async {
    let ended = Gate("loop ended")
    weak var gone: EventHub<Int>?
    let later: EventSequence<Int>
    do {
      let hub = EventHub<Int>()
      gone = hub
      let sequence = hub.events()
      later = hub.events()
      _ = later.makeAsyncIterator()
      Task {
        for await _ in sequence {}
        ended.open()
        _ = sequence
      }
    }
    #expect(gone == nil)
    guard gone == nil else { return }
    await onOwnThread { ended.wait() }
    #expect(await all(later) == [])
  }

  @Test("a subscription keeps no replay of a hub that is gone", arguments: StorageStrategy.allCases)
  func replayOfAHubThatIsGone(_ strategy: StorageStrategy) {
    final class Payload: Sendable {}
    weak var kept: Payload?
    let subscription: EventSubscription
    do {
      let hub = EventHub<Payload>(replay: 1, storage: strategy)
      subscription = hub.subscribe { _ in }
      let event = Payload()
      kept = event
      hub.send(event)
    }
    #expect(kept == nil)
    withExtendedLifetime(subscription) {}
  }

  @Test("an event that was sent before the end is not refused, though no subscriber wants it")
  func unwantedBeforeTheEnd() {
    let hub = EventHub<Int>(ordering: .total)
    let subscription = hub.subscribe(where: { $0 == 0 }) { _ in
      hub.send(1)
      hub.finish()
    }
    #expect(hub.send(0) == 1)
    #expect(hub.statistics.refused == 0)
    #expect(hub.send(2) == 0)
    #expect(hub.statistics.refused == 1)
    withExtendedLifetime(subscription) {}
  }

  @Test("if the hub finishes while the key of an event is computed, that event still arrives")
  func finishedInAKey() async {
    let hub = EventHub<Int>()
    let sequences = (0..<2).map { _ in
      hub.events(
        buffering: .coalescing {
          if $0 == 1 { hub.finish() }
          return $0
        })
    }
    #expect(hub.send(0) == 2)
    #expect(hub.send(1) == 1, "the second sequence has ended when it is its turn")
    #expect(hub.statistics.refused == 0)
    #expect(await all(sequences[0]) == [0, 1])
    #expect(await all(sequences[1]) == [0])
    let other = EventHub<Int>()
    let sequence = other.events(
      buffering: .coalescing {
        other.finish()
        return $0
      })
    #expect(await other.sendWaiting(1))
    #expect(other.statistics.refused == 0)
    #expect(await all(sequence) == [1])
  }

  @Test("an event that was left to a sender that computes a key is not lost when the hub finishes")
  func finishedBesideAKey() async {
    let hub = EventHub<Int>()
    let (entered, leave) = (Gate("entered"), Gate("leave"))
    let sequence = hub.events(
      buffering: .coalescing { event in
        if event == 1 {
          entered.open()
          leave.wait()
        }
        return event
      })
    let sender = Task { await onOwnThread { #expect(hub.send(1) == 1) } }
    await onOwnThread { entered.wait() }
    #expect(hub.send(2) == 1)
    #expect(await hub.sendWaiting(3))
    hub.finish()
    #expect(hub.send(4) == 0)
    leave.open()
    await sender.value
    #expect(await all(sequence) == [1, 2, 3])
    #expect(hub.statistics.refused == 1)
  }

  @Test("an event that is sent and left to the caller's own key is not lost when the key finishes")
  func sentAndFinishedInAKey() async {
    let hub = EventHub<Int>()
    let sequence = hub.events(
      buffering: .coalescing { event in
        if event == 1 {
          #expect(hub.send(2) == 1)
          hub.finish()
          #expect(hub.send(3) == 0)
        }
        return event
      })
    #expect(hub.send(1) == 1)
    #expect(await all(sequence) == [1, 2])
    #expect(hub.statistics.refused == 1)
  }

  @Test("a subscription that was cancelled stays so when the hub finishes")
  func cancelledBeforeFinish() {
    let hub = EventHub<Int>()
    let cancelled = hub.subscribe { _ in }
    let finished = hub.subscribe { _ in }
    var owner: RecordingObserver? = RecordingObserver()
    let queue = DispatchQueue(label: "queue")
    let orphaned = owner.map { hub.subscribe(with: $0) { _, _ in } }
    let orphanedOnAQueue = owner.map { hub.subscribe(with: $0, on: queue) { _, _ in } }
    #expect(orphaned?.end == nil && orphanedOnAQueue?.end == nil)
    cancelled.cancel()
    owner = nil
    #expect(orphaned?.end == .cancelled && orphanedOnAQueue?.end == .cancelled)
    hub.finish()
    #expect(cancelled.end == .cancelled)
    #expect(orphaned?.end == .cancelled && orphanedOnAQueue?.end == .cancelled)
    #expect(finished.end == .finished)
  }

  @Test(
    "a hub that is released reports the end of its last subscriber, one on a queue with an owner")
  func hubGoesBeforeItsSubscriberOnAQueue() {
    let last = Gate("last subscriber")
    let owner = RecordingObserver()
    do {
      let hub = EventHub<Int>(onLastSubscriber: { last.open() })
      hub.subscribe(with: owner, on: DispatchQueue(label: "queue")) { _, _ in }
      hub.send(1)
    }
    last.wait()
  }
}
