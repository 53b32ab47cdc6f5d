import Dispatch
import Multicast
import MulticastTestSupport
import Testing

@Suite("How many threads call a handler at once, with which priority, and which one destroys it")
struct CallingThreadTests {
  @Test("senders call a delegate without a place, as many at once as there are")
  func delegateManyAtOnce() {
    let hub = MulticastDelegate<any Observing>()
    let meeting = Meeting()
    let delegate = ActingObserver(onReceive: { _, number in meeting.attend(number) })
    hub.add(delegate)
    runConcurrently {
      hub.invoke { $0.receive(0) }
    } and: {
      hub.invoke { $0.receive(1) }
    }
    #expect(meeting.isOver)
  }

  @Test("senders call a handler, as many at once as there are")
  func handlerManyAtOnce() {
    let hub = EventHub<Int>()
    let meeting = Meeting()
    let subscription = hub.subscribe(on: .sender) { meeting.attend($0) }
    runConcurrently {
      hub.send(0)
    } and: {
      hub.send(1)
    }
    #expect(meeting.isOver)
    withExtendedLifetime(subscription) {}
  }

  @Test(
    "in a hub with one order, one sender at a time calls a handler", arguments: OneOrder.allCases)
  func oneAtATime(_ order: OneOrder) {
    let hub = order.makeHub()
    let (entered, mayLeave, journal) = (Gate("entered"), Gate("may leave"), Journal())
    let subscription = order.subscribe(to: hub) { event in
      journal.record(event)
      guard event == 0 else { return }
      entered.open()
      mayLeave.wait()
      journal.record(-1)
    }
    let thread = RunningThread { hub.send(0) }
    entered.wait()
    hub.send(1)  // Returns, and leaves the call to the other thread.
    mayLeave.open()
    thread.join()
    #expect(journal.entries == [0, -1, 1])
    withExtendedLifetime(subscription) {}
  }

  @Test("on an actor and in a task: the priority of a detached task, not that of the sender")
  func priority() async {
    let (hub, delegates, station) = (EventHub<Int>(), MulticastDelegate<any Observing>(), Station())
    let priorities = Priorities()
    let delegate = ActingObserver(onReceive: { _, _ in priorities.note() })
    delegates.add(delegate, on: station)
    let subscriptions = [
      hub.subscribe(on: .main) { _ in priorities.note() },
      await station.perform { _ in hub.subscribe { _ in priorities.note() } },
      hub.subscribe { (_: Int) async in priorities.note() },
    ]
    await Task(priority: .background) {
      hub.send(1)
      delegates.invoke { $0.receive(1) }
    }.value
    await hub.flush()
    await delegates.flush()
    #expect(priorities.all == Array(repeating: .medium, count: 4))
    withExtendedLifetime((delegate, subscriptions)) {}
  }

  @Test(
    "the thread that ends a subscription destroys what its handler captures, also of an actor",
    arguments: HandlerPlace.allCases)
  func destroyedByCancel(_ place: HandlerPlace) async {
    let (hub, tracker, station) = (EventHub<Int>(), LifetimeTracker(), Station())
    let subscription = await place.subscribe(to: hub, station, tracker)
    station.executor.queue.suspend()  // So the actor destroys nothing.
    #expect(tracker.live == 1)
    subscription.cancel()
    #expect(tracker.live == 0)
    station.executor.queue.resume()
  }

  @Test(
    "the place of a handler destroys what it captures, if it has yet to find that it ended",
    arguments: [HandlerPlace.queue, .actor])
  func destroyedInItsPlace(_ place: HandlerPlace) async {
    let (hub, tracker, station) = (EventHub<Int>(), LifetimeTracker(), Station())
    let subscription = await place.subscribe(to: hub, station, tracker)
    station.executor.queue.suspend()
    hub.send(1)
    subscription.cancel()
    #expect(tracker.live == 1)
    station.executor.queue.resume()
    await eventually { tracker.live == 0 }
  }

  @Test("a thread that sends meanwhile destroys it, if that still may find it")
  func destroyedBySender() async {
    let (hub, tracker, station) = (EventHub<Int>(), LifetimeTracker(), Station())
    let (entered, mayLeave) = (Gate("entered"), Gate("may leave"))
    let other = hub.subscribe(on: .sender) { _ in
      entered.open()
      mayLeave.wait()
    }
    let subscription = await HandlerPlace.sender.subscribe(to: hub, station, tracker)
    await onOwnThread {
      let thread = RunningThread { hub.send(1) }
      entered.wait()
      subscription.cancel()
      #expect(tracker.live == 1)
      mayLeave.open()
      thread.join()
    }
    #expect(tracker.live == 0)
    withExtendedLifetime(other) {}
  }

  @Test("the thread that removes a strong delegate destroys it, also if it has an actor")
  func delegateDestroyed() {
    let (hub, tracker) = (MulticastDelegate<any Observing>(), LifetimeTracker())
    let registration = hub.add(ActingObserver(tracker: tracker), ownership: .strong, on: Station())
    #expect(tracker.live == 1)
    registration.cancel()
    #expect(tracker.live == 0)
  }
}

/// A hub with one order.
enum OneOrder: CaseIterable {
  case total, replay, positions

  func makeHub() -> EventHub<Int> {
    switch self {
    case .total: EventHub(ordering: .total)
    case .replay: EventHub(replay: 1)
    case .positions: EventHub(retention: .all)
    }
  }

  func subscribe(
    to hub: EventHub<Int>, _ handler: @escaping @Sendable (Int) -> Void
  ) -> EventSubscription {
    switch self {
    case .total, .replay: hub.subscribe(on: .sender, handler)
    case .positions:
      hub.subscribe(from: .live, on: .sender) { if let event = $0.event { handler(event) } }
    }
  }
}

/// Where a handler is called.
enum HandlerPlace: CaseIterable {
  case sender, queue, actor

  /// Subscribes a handler that captures an object, which `tracker` counts.
  func subscribe(
    to hub: EventHub<Int>, _ station: Station, _ tracker: LifetimeTracker
  ) async -> EventSubscription {
    let handler = self.handler(tracker)
    return switch self {
    case .sender: hub.subscribe(on: .sender, handler)
    case .queue: hub.subscribe(on: station.executor.queue, handler)
    case .actor: await station.perform { _ in hub.subscribe(handler) }
    }
  }

  private func handler(_ tracker: LifetimeTracker) -> @Sendable (Int) -> Void {
    let captured = ActingObserver(tracker: tracker)
    return { captured.receive($0) }
  }
}

/// Two calls, each of which ends only when the other one has begun.
private final class Meeting: Sendable {
  private let begun = [Gate("the first call"), Gate("the second call")]

  func attend(_ number: Int) {
    begun[number].open()
    begun[1 - number].wait()
  }

  var isOver: Bool { begun.allSatisfy(\.isOpen) }
}

/// The priorities of the tasks that call.
private final class Priorities: Sendable {
  private let found = Guarded<[TaskPriority?]>([])

  func note() { found.withLock { $0.append(Task.basePriority) } }

  var all: [TaskPriority?] { found.withLock { $0 } }
}
