import Dispatch
import Multicast
import MulticastTestSupport
import Testing

@Suite("Promise 8: subscribing with replay has no gap and no duplicate")
struct ReplayTests {
  @Test("the newest come first", arguments: Ordering.allCases)
  func replaysTheNewest(_ ordering: Ordering) async {
    let hub = EventHub<Int>(replay: 3, ordering: ordering)
    for event in 0..<10 { hub.send(event) }
    let inline = Journal()
    let queued = Journal()
    let subscriptions = [
      hub.subscribe { inline.record($0) },
      hub.subscribe(on: DispatchQueue(label: "queue")) { queued.record($0) },
    ]
    #expect(inline.entries == [7, 8, 9])
    let sequence = hub.events()
    hub.send(10)
    hub.finish()
    #expect(inline.entries == [7, 8, 9, 10])
    await eventually { queued.entries.count == 4 }
    #expect(queued.entries == [7, 8, 9, 10])
    var received: [Int] = []
    for await event in sequence { received.append(event) }
    #expect(received == [7, 8, 9, 10])
    withExtendedLifetime(subscriptions) {}
  }

  @Test("against a concurrent sender", arguments: Ordering.allCases, StorageStrategy.allCases)
  func concurrentSender(_ ordering: Ordering, _ strategy: StorageStrategy) async {
    let hub = EventHub<Int>(replay: 5, ordering: ordering, storage: strategy)
    let subscribers = 45
    let sending = RunningThread {
      for event in 0..<3000 { hub.send(event) }
    }
    let journals = (0..<subscribers).map { _ in Journal() }
    var handles: [EventSubscription] = []
    var sequences: [EventSequence<Int>] = []
    for (index, journal) in journals.enumerated() {
      if index % 3 == 0 {
        handles.append(hub.subscribe { journal.record($0) })
      } else if index % 3 == 1 {
        handles.append(hub.subscribe(on: .global()) { journal.record($0) })
      } else {
        sequences.append(hub.events())
      }
    }
    sending.join()
    hub.finish()
    await eventually {
      journals.enumerated().allSatisfy { $0.offset % 3 == 2 || $0.element.entries.last == 2999 }
    }
    for (index, journal) in journals.enumerated() where index % 3 != 2 {
      let entries = journal.entries
      #expect(entries == Array((entries.first ?? 0)..<3000), "gap or duplicate")
    }
    for sequence in sequences {
      var received: [Int] = []
      for await event in sequence { received.append(event) }
      #expect(received == Array((received.first ?? 0)..<3000), "gap or duplicate")
    }
    withExtendedLifetime(handles) {}
  }

  @Test("replay is delivered outside every lock: a handler may do anything")
  func insideReplay() {
    let hub = EventHub<Int>(replay: 2)
    hub.send(1)
    hub.send(2)
    let journal = Journal()
    let inner = Holder<EventSubscription>(nil)
    let subscription = hub.subscribe { event in
      journal.record(event)
      if event == 1 {
        hub.send(3)
        inner.value = hub.subscribe { _ in }
      }
      if event == 2 { inner.value = nil }
    }
    #expect(journal.entries == [1, 2, 3])
    subscription.cancel()
    #expect(hub.subscriberCount == 0)
  }

  @Test("the buffer's limit holds for the replay")
  func limit() async {
    let hub = EventHub<Int>(replay: 10)
    for event in 0..<10 { hub.send(event) }
    let sequence = hub.events(buffering: .bounded(2, whenFull: .dropOldest))
    hub.finish()
    var received: [Int] = []
    for await event in sequence { received.append(event) }
    #expect(received == [8, 9])
  }
}
