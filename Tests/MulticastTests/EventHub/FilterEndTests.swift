import Dispatch
import Multicast
import MulticastTestSupport
import Testing

@Suite("A filter that ends or blocks its own subscription", .timeLimit(.minutes(10)))
struct FilterEndTests {
  /// What the filter does with the second event, which it accepts.
  enum Change: CaseIterable {
    case cancel, cancelAndWait, cancelSubscriptions, block

    func apply(to subscription: EventSubscription, of hub: EventHub<Int>) {
      switch self {
      case .cancel: subscription.cancel()
      case .cancelAndWait: #expect(subscription.cancelAndWait(timeout: .seconds(60)))
      case .cancelSubscriptions: hub.cancelSubscriptions()
      case .block: subscription.block()
      }
    }
  }

  @Test(
    "a handler that senders call is not called with that event", arguments: Change.allCases,
    Ordering.allCases)
  func sender(change: Change, ordering: Ordering) {
    for storage in StorageStrategy.allCases {
      for replay in [0, 1] {
        let hub = EventHub<Int>(replay: replay, ordering: ordering, storage: storage)
        let (holder, journal) = (Holder<EventSubscription>(nil), Journal())
        holder.value = hub.subscribe(
          on: .sender,
          where: { [unowned hub] event in
            if event == 2 { change.apply(to: holder.value!, of: hub) }
            return true
          }
        ) { journal.record($0) }
        let reached = (1...3).map { hub.send($0) }
        #expect(journal.entries == [1])
        // In a hub with a replay the handler has a buffer, in which the second event then waits.
        #expect(reached == [1, change == .block && replay == 1 ? 1 : 0, 0])
        holder.value = nil
      }
    }
  }

  @Test("nor is one of topics, of patterns and of all topics")
  func topics() {
    let hub = TopicHub<String, Int>()
    let journal = Journal()
    let holders = (0..<3).map { _ in Holder<EventSubscription>(nil) }
    holders[0].value = hub.subscribe(
      to: "a", on: .sender,
      where: { _ in
        holders[0].value!.cancel()
        return true
      }
    ) { journal.record($0) }
    holders[1].value = hub.subscribe(
      matching: "*", on: .sender,
      where: { _ in
        holders[1].value!.cancel()
        return true
      }
    ) { journal.record($0.event) }
    holders[2].value = hub.allTopics.subscribe(
      on: .sender,
      where: { _ in
        holders[2].value!.cancel()
        return true
      }
    ) { journal.record($0.event) }
    #expect(hub.send(1, to: "a") == 0)
    #expect(journal.entries.isEmpty)
    for holder in holders { holder.value = nil }
  }

  @Test("nor is one that receives positions, by senders and on a queue")
  func positions() async {
    let hub = EventHub<Int>(retention: .last(10))
    let (holder, journal) = (Holder<EventSubscription>(nil), Journal())
    let filter: @Sendable (Int) -> Bool = { event in
      if event == 2 { holder.value!.cancel() }
      return true
    }
    holder.value = hub.subscribe(from: .live, on: .sender, where: filter) {
      journal.record($0.event!)
    }
    for event in 1...3 { hub.send(event) }
    #expect(journal.entries == [1])

    let queue = DispatchQueue(label: "filter-end")
    holder.value = hub.subscribe(from: .live, on: queue, where: filter) {
      journal.record($0.event!)
    }
    queue.suspend()
    for event in 1...3 { hub.send(event) }
    queue.resume()
    await eventually { !holder.value!.isActive }
    await holder.value!.cancelAndWait()
    #expect(journal.entries == [1, 1])
    holder.value = nil
  }
}
