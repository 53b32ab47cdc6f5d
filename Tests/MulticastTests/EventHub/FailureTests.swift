import Dispatch
import Multicast
import MulticastTestSupport
import Testing

private struct Lost: Error, Equatable {
  var number = 0
}

/// All events of a sequence, and the error that it throws.
private func all<S: AsyncSequence & Sendable>(
  _ sequence: S
) async -> (events: [S.Element], error: Lost?) where S.Element: Sendable {
  var events: [S.Element] = []
  do {
    for try await event in sequence { events.append(event) }
    return (events, nil)
  } catch {
    return (events, error as? Lost)
  }
}

@Suite("A hub that finishes with an error: each subscriber learns it after the last event")
struct FailureTests {
  private static var hubs: [EventHub<Int>] {
    [EventHub(), EventHub(ordering: .total), EventHub(replay: 3)]
  }

  @Test("for try await throws it after the last event; later sequences throw it too")
  func thrown() async {
    for hub in Self.hubs {
      #expect(hub.failure == nil)
      let sequence = hub.events().throwingFailure()
      let plain = hub.events()
      for event in 0..<3 { hub.send(event) }
      hub.finish(throwing: Lost(number: 1))
      let (events, error) = await all(sequence)
      #expect(events == [0, 1, 2] && error == Lost(number: 1))
      #expect(await all(plain).events == [0, 1, 2])
      let later = await all(hub.events().throwingFailure())
      #expect(later.error == Lost(number: 1))
      #expect(await all(sequence).error == Lost(number: 1), "a later iterator")
      #expect(hub.failure as? Lost == Lost(number: 1))
      #expect(hub.send(4) == 0 && hub.statistics.refused == 1)
    }
  }

  @Test("it is thrown once; then the iterator returns nil")
  func once() async {
    let hub = EventHub<Int>()
    var iterator = hub.events().throwingFailure().makeAsyncIterator()
    hub.finish(throwing: Lost())
    await #expect(throws: Lost.self) { try await iterator.next() }
    #expect(await (try? iterator.next()) == .some(nil))
    #expect(iterator.end == .finished)
  }

  @Test("the first finish wins, with or without an error")
  func firstWins() async {
    for hub in Self.hubs {
      hub.finish()
      hub.finish(throwing: Lost())
      #expect(hub.failure == nil)
      #expect(await all(hub.events().throwingFailure()).error == nil)
    }
    for hub in Self.hubs {
      hub.finish(throwing: Lost(number: 1))
      hub.finish(throwing: Lost(number: 2))
      hub.finish()
      #expect(await all(hub.events().throwingFailure()).error == Lost(number: 1))
    }
  }

  @Test("racing finishes: one wins, and each subscriber gets the same error")
  func race() async {
    let outcomes = await onOwnThread {
      MulticastTestSupport.race(
        rounds: 1_000,
        setUp: { (hub: EventHub<Int>(), journal: Journal()) },
        actors: [
          { state in
            state.hub.finish(throwing: Lost(number: 1))
            state.journal.record((state.hub.failure as? Lost)?.number ?? 0)
            if state.hub.send(0) > 0 { state.journal.record(-1) }
          },
          { state in
            state.hub.finish(throwing: Lost(number: 2))
            state.journal.record((state.hub.failure as? Lost)?.number ?? 0)
            if state.hub.send(0) > 0 { state.journal.record(-1) }
          },
          { state in
            let subscription = state.hub.subscribe(on: .global()) { _ in }
            if subscription.end == .finished {
              state.journal.record((subscription.failure as? Lost)?.number ?? 0)
            }
          },
        ],
        outcome: { Set($0.journal.entries + [($0.hub.failure as? Lost)?.number ?? 0]) })
    }
    #expect(Set(outcomes.keys).isSubset(of: [[1], [2]]), "\(outcomes)")
  }

  @Test("a subscription has the error if the hub has ended it, and not if it ended before")
  func subscriptions() async {
    for hub in Self.hubs {
      let queue = DispatchQueue(label: "serial")
      let inline = hub.subscribe { _ in }
      let queued = hub.subscribe(on: queue) { _ in }
      let cancelled = [hub.subscribe { _ in }, hub.subscribe(on: queue) { _ in }]
      for subscription in cancelled { subscription.cancel() }
      #expect(inline.failure == nil && queued.failure == nil)
      hub.finish(throwing: Lost())
      #expect(inline.failure is Lost && queued.failure is Lost)
      #expect(cancelled.allSatisfy { $0.failure == nil && $0.end == .cancelled })
      let later = hub.subscribe { _ in }
      #expect(later.failure is Lost)
    }
  }

  @Test("no error for a cancelled task, a slow consumer, and a hub that is released")
  func noError() async {
    let hub = EventHub<Int>()
    let slow = hub.events(buffering: .bounded(1, whenFull: .disconnect)).throwingFailure()
    hub.send(0)
    hub.send(1)
    let cancelled = hub.events().throwingFailure()
    hub.send(2)
    hub.finish(throwing: Lost())
    let (events, error) = await all(slow)
    #expect(events == [0] && error == nil)
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      return await all(cancelled)
    }
    task.cancel()
    let result = await task.value
    #expect(result.events.isEmpty && result.error == nil)

    var released: EventHub<Int>? = EventHub()
    let sequence = released!.events().throwingFailure()
    released = nil
    #expect(await all(sequence).error == nil)
  }

  @Test("a sequence throws the error also when its hub no longer exists")
  func hubIsGone() async {
    var hub: EventHub<Int>? = EventHub()
    let sequence = hub!.events().throwingFailure()
    hub!.finish(throwing: Lost())
    hub = nil
    #expect(await all(sequence).error == Lost())
    #expect(await all(sequence).error == Lost())
  }

  @Test("a state: the hub and its subscriptions have it, and the first finish counts")
  func state() {
    let hub = StateHub(0) { (state: inout Int, change: Int) in state += change }
    let subscription = hub.subscribe(on: .sender) { _ in }
    let cancelled = hub.subscribe(on: .sender) { _ in }
    cancelled.cancel()
    #expect(hub.failure == nil && subscription.failure == nil)
    hub.finish(throwing: Lost(number: 1))
    hub.finish(throwing: Lost(number: 2))
    #expect(hub.failure as? Lost == Lost(number: 1))
    #expect(subscription.failure as? Lost == Lost(number: 1) && cancelled.failure == nil)
  }

  @Test("topics: one, or all of them", arguments: Ordering.allCases)
  func topics(_ ordering: Ordering) async {
    let hub = TopicHub<Int, Int>(ordering: ordering)
    let first = hub.events(for: 1).throwingFailure()
    let second = hub.events(for: 2).throwingFailure()
    let subscription = hub.subscribe(to: 2) { _ in }
    hub.send(10, to: 1)
    hub.send(20, to: 2)
    hub.finish(1, throwing: Lost(number: 1))
    #expect(hub.failure == nil)
    let (events, error) = await all(first)
    #expect(events == [10] && error == Lost(number: 1))
    let again = hub.events(for: 1).throwingFailure()
    hub.finish(throwing: Lost(number: 2))
    hub.finish()
    #expect(hub.failure as? Lost == Lost(number: 2))
    #expect(await all(second).error == Lost(number: 2))
    #expect(await all(again).error == Lost(number: 2))
    #expect(await all(hub.events(for: 3).throwingFailure()).error == Lost(number: 2))
    #expect(subscription.failure as? Lost == Lost(number: 2))
    #expect(hub.subscribe(to: 4) { _ in }.failure as? Lost == Lost(number: 2))
  }
}
