import Multicast
import MulticastTestSupport
import Testing

@Suite("The current value of a hub, and sets of subscriptions")
struct ValueTests {
  @Test("the initial value until the first event, then the newest, without a subscriber")
  func value() async {
    for ordering in Ordering.allCases {
      let hub = EventHub(initialValue: 1, ordering: ordering)
      #expect(hub.value == 1)
      let journal = Journal()
      let subscription = hub.subscribe { journal.record($0) }
      #expect(journal.entries == [1])
      hub.send(2)
      #expect(hub.value == 2 && journal.entries == [1, 2])
      subscription.cancel()
      hub.send(3)
      #expect(hub.value == 3 && hub.subscriberCount == 0)
      #expect(await hub.first { _ in true } == 3)
      hub.finish()
      hub.send(4)
      #expect(hub.value == 3)
    }
  }

  @Test("without an initial value: nil before the first event, and always without a replay")
  func noValue() {
    let hub = EventHub<Int>(replay: 2)
    #expect(hub.value == nil)
    hub.send(1)
    hub.send(2)
    #expect(hub.value == 2)
    for ordering in Ordering.allCases {
      let hub = EventHub<Int>(ordering: ordering)
      hub.send(1)
      #expect(hub.value == nil)
    }
  }

  @Test("the initial value counts as the oldest event of a longer replay")
  func replay() {
    let hub = EventHub(initialValue: 0, replay: 3)
    for event in 1...2 { hub.send(event) }
    let journal = Journal()
    hub.subscribe { journal.record($0) }.cancel()
    #expect(journal.take() == [0, 1, 2])
    hub.send(3)
    hub.subscribe { journal.record($0) }.cancel()
    #expect(journal.entries == [1, 2, 3])
  }

  @Test("inside a handler and a filter it is at least the event itself")
  func inside() {
    let hub = EventHub(initialValue: 0)
    let values = Journal()
    let subscription = hub.subscribe(
      where: { [weak hub] event in
        values.record((hub?.value ?? -1) - event)
        return true
      },
      { [weak hub] event in values.record((hub?.value ?? -1) - event) })
    for event in 1...3 { hub.send(event) }
    #expect(values.entries == Array(repeating: 0, count: 8))
    withExtendedLifetime(subscription) {}
  }

  @Test("senders and readers race: a value never goes back, and the last one stays")
  func race() {
    let hub = EventHub(initialValue: 0)
    let failures = Counter()
    runThreads(4) { thread in
      guard thread > 0 else {
        for event in 1...20_000 { hub.send(event) }
        return
      }
      var last = 0
      while last < 20_000 {
        let value = hub.value ?? -1
        if value < last { failures.add() }
        last = value
      }
    }
    #expect(failures.value == 0 && hub.value == 20_000)
  }

  @Test("values that are replaced are destroyed; the hub keeps one")
  func lifetime() {
    let tracker = LifetimeTracker()
    do {
      let hub = EventHub(initialValue: RecordingObserver(tracker: tracker))
      for _ in 0..<10 { hub.send(RecordingObserver(tracker: tracker)) }
      #expect(tracker.live == 1)
      #expect(hub.value != nil)
    }
    #expect(tracker.live == 0 && tracker.created == 11)
  }

  @Test("reading it destroys no event, also if all are too old")
  func expired() async {
    let tracker = LifetimeTracker()
    let hub = EventHub<RecordingObserver>(retention: .seconds(0.01))
    for _ in 0..<10 { hub.send(RecordingObserver(tracker: tracker)) }
    let newest = hub.newestPosition
    // Those that had expired when another was sent have left.
    let kept = tracker.live
    #expect(kept > 0)
    await eventually { hub.value == nil }
    #expect(hub.newestPosition == newest)
    #expect(tracker.live == kept)
  }

  @Test("an initial value without a replay is refused")
  func badInput() async {
    await #expect(processExitsWith: .failure) {
      _ = EventHub(initialValue: 1, replay: 0)
    }
  }

  @Test("subscriptions are equal by identity, and end with the set or array that stores them")
  func storing() {
    let hub = EventHub<Int>()
    let counter = Counter()
    var set: Set<EventSubscription> = []
    var array: [EventSubscription] = []
    for _ in 0..<3 { hub.subscribe { _ in counter.add() }.store(in: &set) }
    for _ in 0..<2 { hub.subscribe { _ in counter.add() }.store(in: &array) }
    let kept = hub.subscribe { _ in counter.add() }
    kept.store(in: &set)
    kept.store(in: &set)
    #expect(set.count == 4 && set.contains(kept) && !set.contains(array[0]))
    #expect(kept == kept && kept != array[0])
    hub.send(0)
    #expect(counter.value == 6)
    array = []
    set.remove(kept)
    hub.send(0)
    #expect(counter.value == 10, "a handle that is kept elsewhere does not end with the set")
    set = []
    #expect(hub.subscriberCount == 1)
    withExtendedLifetime(kept) {}
  }
}
