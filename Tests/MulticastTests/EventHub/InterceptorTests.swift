import Dispatch
import Multicast
import MulticastTestSupport
import Testing

private enum Trace {
  @TaskLocal static var id = 0
  @TaskLocal static var name = ""
  @TaskLocal static var depth = 0.5
}

private actor Home {
  private(set) var received: [Int] = []
  func follow(_ hub: EventHub<Int>, _ option: SubscriberOption<Int>) -> EventSubscription {
    hub.subscribe(options: [option]) { self.received.append($0) }
  }
}

/// An actor that a test runs.
private actor SteppedHome {
  nonisolated let executor = SteppedExecutor()
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  func follow(
    _ hub: EventHub<Int>, _ options: [SubscriberOption<Int>], calls: Int, _ journal: Journal
  ) -> EventSubscription {
    hub.subscribe(options: options, maxConcurrentCalls: calls) { event async in
      _ = self
      journal.record(event)
    }
  }
}

/// Writes into a journal before and after each call.
private func around(_ journal: Journal) -> SubscriberOption<Int> {
  .intercepting { call in
    journal.record(-1)
    call()
    journal.record(-2)
  } async: { call in
    journal.record(-1)
    await call()
    journal.record(-2)
  }
}

@Suite("intercepting: each call of the handler runs inside the function")
struct InterceptorTests {
  @Test("wherever the handler is called", arguments: Ordering.allCases)
  func places(_ ordering: Ordering) async {
    let hub = EventHub<Int>(ordering: ordering)
    let journals = (0..<4).map { _ in Journal() }
    let options = journals.map { [around($0)] }
    let subscriptions = [
      hub.subscribe(on: .sender, options: options[0]) { journals[0].record($0) },
      hub.subscribe(on: .global(), options: options[1]) { journals[1].record($0) },
      hub.subscribe(on: .main, options: options[2]) { journals[2].record($0) },
      hub.subscribe(options: options[3]) { event async in journals[3].record(event) },
    ]
    for event in [1, 2] { hub.send(event) }
    await hub.flush()
    for journal in journals { #expect(journal.entries == [-1, 1, -2, -1, 2, -2]) }
    withExtendedLifetime(subscriptions) {}
  }

  @Test("on the actor of the handler, whose state that may use")
  func actors() async {
    let hub = EventHub<Int>()
    let home = Home()
    let calls = Counter()
    let subscription = await home.follow(
      hub,
      .intercepting { call in
        calls.add()
        home.assertIsolated()
        call()
      } async: { call in
        await call()
      })
    for event in [1, 2, 3] { hub.send(event) }
    await hub.flush()
    #expect(await home.received == [1, 2, 3])
    #expect(calls.value == 3)
    withExtendedLifetime(subscription) {}
  }

  @Test("carried values do not make a call leave its actor", arguments: 1...3, [1, 2])
  func carriedOnActor(keys: Int, calls: Int) async {
    let hub = EventHub<Int>()
    let home = SteppedHome()
    let journal = Journal()
    let carrying: [SubscriberOption<Int>] = [
      .carrying(Trace.$id), .carrying(Trace.$name), .carrying(Trace.$depth),
    ]
    let task = Task {
      await home.follow(hub, [around(journal)] + carrying.prefix(keys), calls: calls, journal)
    }
    let entries = await onOwnThread {
      home.executor.waitForJob()
      while home.executor.runOldest() {}
      while hub.subscriberCount == 0 {}
      for event in 1...calls { hub.send(event) }
      // One job for each call: one that has left the actor comes back in another one.
      for _ in 1...calls { _ = home.executor.runOldest() }
      return journal.entries
    }
    #expect(entries == (1...calls).flatMap { [-1, $0, -2] })
    // Here, because the thread on which the task has ended may still keep the subscription for a
    // moment. If that were active when the hub is released, its end would start a job that no one
    // runs.
    await task.value.cancel()
  }

  @Test("inside it the carried values of the sender are bound")
  func carriedValues() async {
    let hub = EventHub<Int>()
    let (seen, seenAsync) = (Journal(), Journal())
    func option(_ journal: Journal) -> SubscriberOption<Int> {
      .intercepting { call in
        journal.record(Trace.id)
        call()
      } async: { call in
        journal.record(Trace.id)
        await call()
      }
    }
    let subscriptions = [
      hub.subscribe(on: .global(), options: [option(seen), .carrying(Trace.$id)]) { _ in },
      hub.subscribe(options: [.carrying(Trace.$id), option(seenAsync)]) { _ async in },
    ]
    for id in 1...3 { Trace.$id.withValue(id) { _ = hub.send(id) } }
    await hub.flush()
    #expect(seen.entries == [1, 2, 3])
    #expect(seenAsync.entries == [1, 2, 3])
    withExtendedLifetime(subscriptions) {}
  }

  @Test("the first of several is the innermost; a later first(_:) leaves its calls out")
  func order() {
    let hub = EventHub<Int>()
    let journal = Journal()
    func option(_ number: Int) -> SubscriberOption<Int> {
      .intercepting { call in
        journal.record(number)
        call()
      } async: { call in
        await call()
      }
    }
    let subscription = hub.subscribe(on: .sender, options: [option(10), option(20), .first(2)]) {
      journal.record($0)
    }
    for event in 1...4 { hub.send(event) }
    #expect(journal.entries == [20, 10, 1, 20, 10, 2])
    #expect(!subscription.isActive)
  }

  @Test("a combination has the effect of its options in their order")
  func combination() {
    let hub = EventHub<Int>()
    let journal = Journal()
    let subscription = hub.subscribe(
      on: .sender, options: [.combining([around(journal), .once]), .removingDuplicates]
    ) { journal.record($0) }
    for event in [1, 2] { hub.send(event) }
    #expect(journal.entries == [-1, 1, -2])
    #expect(!subscription.isActive)
  }

  @Test("a call that is not made is delivered; one that is made twice reaches the handler twice")
  func calls() {
    let hub = EventHub<Int>()
    let journal = Journal()
    let options: [SubscriberOption<Int>] = [
      .intercepting { call in
        hub.cancelSubscriptions()  // with no lock held
        call()
        call()
      } async: { call in
        await call()
      }
    ]
    let none = hub.subscribe(
      on: .sender,
      options: [
        .intercepting { _ in
        } async: { _ in
        }
      ]
    ) { journal.record($0 + 100) }
    let subscription = hub.subscribe(on: .sender, options: options) { journal.record($0) }
    #expect(hub.send(7) == 2)
    #expect(journal.entries == [7, 7])
    withExtendedLifetime((subscription, none)) {}
  }
}
