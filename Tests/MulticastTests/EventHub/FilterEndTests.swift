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

  @Test("a filter that blocks: the event waits in the buffer, and comes after the last unblock")
  func waits() async {
    for replay in [0, 1] {
      let hub = EventHub<Int>(replay: replay)
      let (holder, journal) = (Holder<EventSubscription>(nil), Journal())
      holder.value = hub.subscribe(
        on: DispatchQueue(label: "filter-end"),
        where: { event in
          if event == 2 { holder.value!.block() }
          return true
        }
      ) { journal.record($0) }
      hub.send(1)
      await hub.flush()  // otherwise the first event waits, too
      hub.send(2)
      hub.send(3)
      #expect(journal.entries == [1])
      holder.value!.unblock()
      hub.send(4)
      await hub.flush()
      #expect(journal.entries == [1, 2, 4])
      holder.value = nil
    }
  }

  /// Ends the subscription when event 2 is compared.
  private struct Ending: Equatable {
    let number: Int
    let subscription: Holder<EventSubscription>

    static func == (first: Self, second: Self) -> Bool {
      if second.number == 2 { second.subscription.value!.cancel() }
      return first.number == second.number
    }
  }

  @Test("a comparison or an interceptor that ends it: the call has begun, and is made")
  func begunCalls() {
    let holder = Holder<EventSubscription>(nil)
    let compared = Journal()
    let hub = EventHub<Ending>()
    holder.value = hub.subscribe(on: .sender, options: [.removingDuplicates]) {
      compared.record($0.number)
    }
    for number in 1...3 { hub.send(Ending(number: number, subscription: holder)) }
    #expect(compared.entries == [1, 2])

    let intercepted = Journal()
    let numbers = EventHub<Int>()
    let option = SubscriberOption<Int>.intercepting { call in
      if intercepted.entries == [1] { holder.value!.cancel() }
      call()
    } async: {
      await $0()
    }
    holder.value = numbers.subscribe(on: .sender, options: [option]) { intercepted.record($0) }
    for number in 1...3 { numbers.send(number) }
    #expect(intercepted.entries == [1, 2])
    holder.value = nil
  }
}
