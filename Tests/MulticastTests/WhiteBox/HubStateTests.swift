import MulticastTestSupport
import Testing

@testable import Multicast

@Suite("HubState")
struct HubStateTests {
  @Test("the number that a sender returns is not negative if a removal is counted first")
  func removalBeforeAddition() {
    let counter = HubState()
    counter.add(-1)
    #expect(counter.total == 0)
    counter.add(1)
    #expect(counter.total == 0)
    counter.add(1)
    #expect(counter.total == 1)
  }

  @Test("a removal that is counted before its addition is not the end of another subscriber")
  func otherSubscriberRemains() async {
    let journal = Journal()
    let hooks = SubscriberHooks(
      first: { journal.record(1) }, last: { journal.record(2) },
      each: { change in
        switch change {
        case .added(let count): journal.record(10 + count)
        case .removed(let count): journal.record(20 + count)
        }
      })
    let state = DetailedState(nil, hooks: hooks)
    state.entriesExpected(by: 1)
    state.entriesChanged(by: 1)
    let departures = state.observe().departures.events(buffering: .unbounded)
    let counts = state.observe().counts.events(buffering: .unbounded)
    // Another one is in the list, and is removed before those who observe the hub are told of it.
    state.entriesExpected(by: 1)
    state.entriesChanged(by: -1)
    #expect(state.total == 0 && !state.isEmpty)
    state.entriesChanged(by: 1)
    #expect(state.total == 1 && journal.entries == [11, 1, 12, 21])
    // The first one leaves.
    state.entriesChanged(by: -1)
    #expect(state.isEmpty && journal.entries == [11, 1, 12, 21, 20, 2])
    // Each change makes those that wait for no subscriber check again, also the last one.
    var numbers: [Int] = []
    for await number in departures {
      numbers.append(number)
      if numbers.count == 4 { break }
    }
    #expect(numbers == [1, 0, 1, 0])
    state.observe().finish(state)
    numbers = []
    for await number in counts { numbers.append(number) }
    #expect(numbers == [1, 0])
  }

  @Test("a subscriber is counted before it can get an event", arguments: StorageStrategy.allCases)
  func countedFirst(_ storage: StorageStrategy) {
    let source = Holder<EventHub<Int>>(nil)
    let (expected, received) = (Counter(), Counter())
    let state = DetailedState(nil) { difference in
      if difference > 0 { expected.add() }
      source.value?.send(1)
    }
    let hub = EventHub<Int>(ordering: .perSender, storage: storage, state: state)
    source.value = hub
    let subscription = hub.subscribe(on: .sender) { _ in received.add() }
    #expect(expected.value == 1 && received.value == 0)
    hub.send(2)
    #expect(received.value == 1)
    source.value = nil
    subscription.cancel()
  }

  private struct Failure: Error {}

  @Test("a sequence outlives its hub with the error, and without what hooks and handlers captured")
  func sequenceOutlivesHub() async throws {
    let tracker = LifetimeTracker()
    let sequence: EventSequence<Int>.Throwing
    let positioned: PositionedSequence<Int>
    do {
      let (hooked, watching) = (
        RecordingObserver(1, tracker: tracker), RecordingObserver(2, tracker: tracker)
      )
      let hub = EventHub<Int>(retention: .last(1), onFirstSubscriber: { hooked.receive(0) })
      hub.warnOfLeaks(above: 100) { _ in watching.receive(0) }
      hub.measureHandlers { _ in watching.receive(0) }
      sequence = hub.events().throwingFailure()
      positioned = hub.events(from: .live)
      _ = (sequence.makeAsyncIterator(), positioned.makeAsyncIterator())
      hub.finish(throwing: Failure())
    }
    #expect(tracker.live == 0)
    await #expect(throws: Failure.self) { for try await _ in sequence {} }
    for await _ in positioned {}
  }

  @Test("what hooks, and functions that learn of leaks, capture lives as long as a handle")
  func handlesKeepHooks() {
    let tracker = LifetimeTracker()
    var subscription: EventSubscription?
    var registration: Registration<any Observing>?
    let delegate = RecordingObserver()
    do {
      let (hooked, watching) = (
        RecordingObserver(1, tracker: tracker), RecordingObserver(2, tracker: tracker)
      )
      let events = EventHub<Int>(onFirstSubscriber: { hooked.receive(0) })
      subscription = events.subscribe(on: .sender) { _ in }
      let delegates = MulticastDelegate<any Observing>()
      delegates.warnOfLeaks(above: 100) { _ in watching.receive(0) }
      registration = delegates.add(delegate)
    }
    #expect(subscription?.isActive == false && registration?.isActive == false)
    #expect(tracker.live == 2)
    subscription = nil
    #expect(tracker.live == 1)
    registration = nil
    #expect(tracker.live == 0)
  }

  @Test("a source is released when its hub has finished, and its hooks do not keep it")
  func sourceIsReleased() {
    final class Source: HubSource {
      let stops: Counter
      let target: RecordingObserver
      init(_ stops: Counter, _ tracker: LifetimeTracker) {
        self.stops = stops
        target = RecordingObserver(tracker: tracker)
      }
      func close() {}
      func stop() { stops.add() }
    }
    let (stops, tracker) = (Counter(), LifetimeTracker())
    let hub = EventHub<Int>(
      ordering: .perSender, storage: .waitFree,
      state: DetailedState(nil, source: Source(stops, tracker)))
    #expect(tracker.live == 1 && stops.value == 0)
    hub.finish()
    hub.finish()
    #expect(tracker.live == 0 && stops.value == 1)
  }
}
