import Dispatch
import Multicast
import MulticastTestSupport
import Testing

@MainActor private protocol Showing: AnyObject, Sendable {
  func show(_ value: Int)
  var shown: [Int] { get }
}

extension MulticastDelegate where Delegate == any Showing {
  @discardableResult
  fileprivate func invoke(_ body: @escaping @MainActor @Sendable (any Showing) -> Void) -> Int {
    invokeIsolated(body)
  }
}

@MainActor private final class View: Showing {
  var shown: [Int] = []
  func show(_ value: Int) {
    MainActor.assertIsolated()
    shown.append(value)
  }
}

private protocol Booking: Actor {
  func book(_ value: Int)
}

extension MulticastDelegate where Delegate == any Booking {
  @discardableResult
  fileprivate func invoke(_ body: @escaping @Sendable (isolated any Booking) -> Void) -> Int {
    invoke(onEach: { $0 }) { await body($0) }
  }
}

extension Station: Booking {
  func book(_ value: Int) {
    assertIsolated()
    received.append(value)
  }
}

@Suite("Delegates that belong to an actor are called on it, from anywhere")
struct IsolatedDelegateTests {
  @Test("invoke from many threads: in the order of each sender; flush waits for it")
  func mainActor() async {
    let hub = MulticastDelegate<any Showing>()
    let views = await MainActor.run { [View(), View()] }
    hub.add(views[0])
    hub.add(views[1], on: .main)
    let perSender = 500
    runThreads(3) { sender in
      for index in 0..<perSender {
        #expect(hub.invoke { $0.show(sender * perSender + index) } == 2)
      }
    }
    await hub.flush()
    for view in views {
      let shown = await view.shown
      #expect(shown.count == 3 * perSender)
      for sender in 0..<3 {
        #expect(
          shown.filter { $0 / perSender == sender }
            == Array(sender * perSender..<(sender + 1) * perSender))
      }
    }
  }

  @Test("on the main actor: invoke in a later turn, forEach at once")
  @MainActor func later() async {
    let hub = MulticastDelegate<any Showing>()
    let view = View()
    hub.add(view)
    hub.invoke { $0.show(1) }
    hub.forEach { $0.show(2) }
    #expect(view.shown == [2])
    await hub.flush()
    #expect(view.shown == [2, 1])
    #expect(hub.results { $0.shown.count } == [.success(2)])
  }

  @Test("calls those registered at the call of invoke, except those removed before their call")
  @MainActor func snapshot() async {
    let hub = MulticastDelegate<any Showing>()
    let (early, removed, late) = (View(), View(), View())
    hub.add(early)
    hub.add(removed)
    #expect(hub.invoke { $0.show(1) } == 2)
    hub.remove(removed)
    hub.add(late)
    await hub.flush()
    #expect([early.shown, removed.shown, late.shown] == [[1], [], []])
  }

  @Test("the answers of delegates can be awaited from anywhere")
  func answers() async {
    let hub = MulticastDelegate<any Showing>()
    let views = await MainActor.run { [View(), View()] }
    for view in views { hub.add(view) }
    await hub.forEachIsolated { @MainActor view in view.show(1) }
    let counts: [Result<Int, Never>] = await hub.resultsIsolated { @MainActor in $0.shown.count }
    #expect(counts == [.success(1), .success(1)])
    #expect(await hub.firstResultIsolated { @MainActor in $0.shown.first } == 1)
    #expect(await hub.lastResultIsolated { @MainActor in $0.shown.last } == 1)
  }

  @Test("a burst wakes each actor once; flush, order and cancelAndWait work")
  func actors() async {
    let hub = MulticastDelegate<any Booking>()
    let stations = [Station(), Station()]
    for station in stations { station.executor.queue.suspend() }
    let registrations = stations.map { hub.add($0) }
    for value in 0..<100 { #expect(hub.invoke { $0.book(value) } == 2) }
    for station in stations { #expect(station.executor.jobs.value == 1) }
    registrations[1].cancel()
    for station in stations { station.executor.queue.resume() }
    await hub.flush()
    #expect(await stations[0].received == Array(0..<100))
    #expect(await stations[1].received == [])
    #expect(registrations[0].statistics?.delivered == 100)
  }

  @Test("after cancelAndWait no call runs or begins", arguments: [0, 1, 2])
  func cancelAndWait(kind: Int) async {
    for _ in 0..<100 {
      let hub = MulticastDelegate<Station>()
      let station = Station()
      let tracker = LifetimeTracker()
      let isOver = Gate("over")
      let registration = kind == 1 ? hub.add(station, on: station) : hub.add(station)
      let call: @Sendable (Station) -> Void = { _ in
        if isOver.isOpen { tracker.noteLateCall() }
      }
      let isolated = await Station().isolated(call)
      let sender = RunningThread {
        for _ in 0..<200 {
          switch kind {
          case 0: hub.invokeIsolated(isolated)
          case 1: hub.invoke(call)
          default: hub.invoke(onEach: { $0 }) { call($0) }
          }
        }
      }
      await registration.cancelAndWait()
      isOver.open()
      sender.join()
      await hub.flush()
      #expect(tracker.lateCalls == 0)
    }
  }

  @Test(
    "calls that take longer than 100 µs together, and at least 64, let other work run",
    arguments: [(delegates: 1, invocations: 1000), (64, 20), (65, 20), (1000, 3)])
  func room(delegates: Int, invocations: Int) async {
    let hub = MulticastDelegate<Station>()
    let home = Station()
    let stations = (0..<delegates).map { _ in Station() }
    for station in stations { hub.add(station) }
    let indices = Dictionary(
      uniqueKeysWithValues: stations.enumerated().map { (ObjectIdentifier($1), $0) })
    let journal = Journal()
    let callsBeforeOtherWork = Counter()
    let call = await home.isolated { station in
      let index = indices[ObjectIdentifier(station)]!
      if journal.count == 0 {
        home.executor.queue.async { callsBeforeOtherWork.add(journal.count) }
      }
      journal.record(index)
      let end = ContinuousClock.now.advanced(by: .microseconds(3))
      while .now < end {}
    }
    home.executor.queue.suspend()
    for _ in 0..<invocations { #expect(hub.invokeIsolated(call) == delegates) }
    home.executor.queue.resume()
    await hub.flush()
    #expect((64...65).contains(callsBeforeOtherWork.value))
    #expect(journal.entries == (0..<invocations).flatMap { _ in 0..<delegates })
  }

  @Test("a delegate that is removed in the middle of an invocation is not called")
  func removedInTheMiddle() async {
    let hub = MulticastDelegate<Station>()
    let home = Station()
    let tracker = LifetimeTracker()
    let stations = (0..<1000).map { _ in Station(tracker: tracker) }
    let registrations = stations.map { hub.add($0) }
    let calls = Counter()
    let call = await home.isolated { _ in
      if calls.value == 0 {
        home.executor.queue.async { for registration in registrations { registration.cancel() } }
      }
      calls.add()
      let end = ContinuousClock.now.advanced(by: .microseconds(3))
      while .now < end {}
    }
    hub.invokeIsolated(call)
    await hub.flush()
    #expect((64...128).contains(calls.value))
    withExtendedLifetime(stations) {}
  }

  @Test("delegates with a place on an actor: limit, counts, merge of a second add")
  func places() async {
    let hub = MulticastDelegate<Station>()
    let station = Station()
    let home = Station()
    home.executor.queue.suspend()
    hub.add(station)
    let registration = hub.add(
      station, on: home, buffering: .bounded(5, whenFull: .dropOldest))
    #expect(hub.count == 1)
    let journal = Journal()
    for value in 0..<20 { hub.invoke { _ in journal.record(value) } }
    #expect(journal.entries == [])
    #expect(registration.statistics?.dropped == 15)
    home.executor.queue.resume()
    await hub.flush()
    #expect(journal.entries == Array(15..<20))
  }

  @Test("what a hub keeps for actors that are gone is removed when it has doubled, and not before")
  func actorsThatAreGone() async {
    let hub = MulticastDelegate<Station>()
    let (delegate, kept) = (Station(), Station())
    let tracker = LifetimeTracker()
    // An unowned reference keeps the memory of an actor, so no later one gets its address and,
    // with portable weak references, replaces its mailbox.
    struct Address {
      unowned let home: Station
    }
    var addresses: [Address] = []
    hub.add(delegate)
    await hub.invokeIsolated(isolation: kept) { _ in }
    for count in 2...100 {
      var home: Station? = Station(tracker: tracker)
      addresses.append(Address(home: home!))
      await hub.invokeIsolated(isolation: home!) { _ in }
      await hub.flush()
      home = nil
      await eventually { tracker.live == 0 }
      if count <= 16 { #expect(hub.isolatedMailboxes == count) }
      #expect(hub.isolatedMailboxes <= 16)
    }
    await hub.invokeIsolated(isolation: kept) { _ in }
    await hub.flush()
    withExtendedLifetime((delegate, kept, addresses)) {}
  }

  @Test("a hub that is gone calls no one, and frees what waits")
  func hubGone() async {
    let tracker = LifetimeTracker()
    let home = Station()
    let delegate = Station(tracker: tracker)
    var hub: MulticastDelegate<Station>? = MulticastDelegate()
    hub?.add(delegate)
    var calls: [IsolatedCall] = []
    for _ in 0..<10 {
      let payload = RecordingObserver(tracker: tracker)
      calls.append(
        await home.isolated { _ in
          tracker.noteLateCall()
          withExtendedLifetime(payload) {}
        })
    }
    home.executor.queue.suspend()
    for call in calls { hub?.invokeIsolated(call) }
    calls = []
    hub = nil
    home.executor.queue.resume()
    await eventually { tracker.live == 1 }
    #expect(tracker.lateCalls == 0)
    withExtendedLifetime(delegate) {}
  }
}

private typealias IsolatedCall = @isolated(any) @Sendable (Station) -> Void

extension Station {
  /// `call`, as a closure that belongs to this actor.
  fileprivate func isolated(_ call: @escaping @Sendable (Station) -> Void) -> IsolatedCall {
    inheriting { delegate in
      self.assertIsolated()
      call(delegate)
    }
  }

  private func inheriting(@_inheritActorContext _ call: @escaping IsolatedCall) -> IsolatedCall {
    call
  }
}
