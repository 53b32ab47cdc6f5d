import Dispatch
import Multicast
import MulticastTestSupport
import Testing

/// An event whose `==` uses the hub, which would hang under a lock.
private struct Curious: Equatable, Sendable {
  let value: Int
  var act: @Sendable () -> Void = {}

  static func == (first: Curious, second: Curious) -> Bool {
    second.act()
    return first.value == second.value
  }
}

@Suite("removingDuplicates: the handler is not called with an event equal to the one before")
struct DuplicateEventTests {
  private static let sent = [1, 1, 2, 2, 2, 1, 3, 3, 1]
  private static let expected = [1, 2, 1, 3, 1]

  @Test("wherever the handler is called", arguments: Ordering.allCases)
  func places(_ ordering: Ordering) async {
    let hub = EventHub<Int>(ordering: ordering)
    let journals = (0..<4).map { _ in Journal() }
    let all = Journal()
    let subscriptions = [
      hub.subscribe(on: .sender, options: [.removingDuplicates]) { journals[0].record($0) },
      hub.subscribe(on: .global(), options: [.removingDuplicates]) { journals[1].record($0) },
      hub.subscribe(on: .main, options: [.removingDuplicates]) { journals[2].record($0) },
      hub.subscribe(options: [.removingDuplicates]) { event async in journals[3].record(event) },
      hub.subscribe(on: .sender) { all.record($0) },
    ]
    for event in Self.sent { hub.send(event) }
    await hub.flush()
    for journal in journals { #expect(journal.entries == Self.expected) }
    #expect(all.entries == Self.sent, "other subscribers get every event")
    withExtendedLifetime(subscriptions) {}
  }

  @Test("what a filter excludes does not count, and the replay does")
  func filterAndReplay() {
    let hub = EventHub<Int>(replay: 3)
    for event in [1, 1, 2] { hub.send(event) }
    let journal = Journal()
    let subscription = hub.subscribe(
      on: .sender, where: { $0 != 9 }, options: [.removingDuplicates]
    ) { journal.record($0) }
    for event in [2, 9, 2, 3] { hub.send(event) }
    #expect(journal.entries == [1, 2, 3])
    withExtendedLifetime(subscription) {}
  }

  @Test("wherever the option is, a call that it leaves out does not count for first")
  func callsThatCount() {
    let orders: [[SubscriberOption<Int>]] = [
      [.removingDuplicates, .first(2)], [.first(2), .removingDuplicates],
      [.combining([.removingDuplicates, .first(2)])],
    ]
    for options in orders {
      let hub = EventHub<Int>()
      let journal = Journal()
      let subscription = hub.subscribe(on: .sender, options: options) { journal.record($0) }
      for event in [1, 1, 2, 3] { hub.send(event) }
      #expect(journal.entries == [1, 2])
      #expect(!subscription.isActive)
    }
  }

  @Test("no lock is held while events are compared")
  func comparison() {
    let hub = EventHub<Curious>()
    let journal = Journal()
    let subscription = hub.subscribe(on: .sender, options: [.removingDuplicates]) {
      journal.record($0.value)
    }
    hub.send(Curious(value: 1))
    hub.send(Curious(value: 2, act: { hub.send(Curious(value: 7)) }))
    #expect(journal.entries == [1, 7, 2])
    withExtendedLifetime(subscription) {}
  }

  @Test("many senders: consecutive calls never have equal events; what is replaced is destroyed")
  func race() {
    let hub = EventHub<Int>(ordering: .total)
    let journal = Journal()
    let subscription = hub.subscribe(on: .sender, options: [.removingDuplicates]) {
      journal.record($0)
    }
    runThreads(4) { thread in for _ in 0..<2_000 { hub.send(thread % 2) } }
    let entries = journal.entries
    #expect(zip(entries, entries.dropFirst()).allSatisfy { $0 != $1 })
    withExtendedLifetime(subscription) {}
  }
}
