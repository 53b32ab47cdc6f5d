import Dispatch
import Multicast
import MulticastTestSupport
import Testing

@Suite("A hub warns once of each line that makes more registrations than its limit")
struct LeakWarningTests {
  @Test func oneWarningForALineWithTooMany() {
    let hub = EventHub<Int>(name: "prices")
    let warnings = Guarded<[LeakWarning]>([])
    hub.warnOfLeaks(above: 3) { warning in warnings.withLock { $0.append(warning) } }
    var kept: [EventSubscription] = []
    for number in 1...5 {
      kept.append(hub.subscribe(fileID: "App/Board.swift", line: 12) { _ in })
      #expect(warnings.withLock { $0.count } == (number > 3 ? 1 : 0))
    }
    for _ in 1...3 { kept.append(hub.subscribe(fileID: "App/Board.swift", line: 13) { _ in }) }
    let warning = warnings.withLock { $0 }
    #expect(warning.count == 1)
    #expect(warning.first?.site == CallSite(fileID: "App/Board.swift", line: 12))
    #expect(warning.first?.count == 4)
    #expect(
      warning.first?.description
        == "Multicast: in the hub \"prices\": 4 registrations were made at App/Board.swift:12 and have not ended."
    )
  }

  @Test(arguments: StorageStrategy.allCases)
  func registrationsThatEndAreNoLeak(_ storage: StorageStrategy) {
    let hub = EventHub<Int>(storage: storage)
    let warnings = Counter()
    hub.warnOfLeaks(above: 3) { _ in warnings.add() }
    for _ in 0..<1000 {
      let subscription = hub.subscribe { _ in }
      subscription.cancel()
    }
    #expect(warnings.value == 0)
  }

  @Test(arguments: StorageStrategy.allCases)
  func registrationsThatEndDuringAnInvocationDoNotCount(_ storage: StorageStrategy) {
    // The memory of what is removed during an invocation is freed later.
    let hub = EventHub<Int>(storage: storage)
    let warnings = Guarded<[Int]>([])
    hub.warnOfLeaks(above: 3) { warning in warnings.withLock { $0.append(warning.count) } }
    let kept = Guarded<[EventSubscription]>([])
    let outer = hub.subscribe(on: .sender) { [weak hub] count in
      for index in 0..<100 + count {
        guard let subscription = hub?.subscribe(on: .sender, { _ in }) else { return }
        if index < 100 { subscription.cancel() } else { kept.withLock { $0.append(subscription) } }
      }
    }
    hub.send(0)
    #expect(warnings.withLock { $0 } == [])
    hub.send(4)
    #expect(warnings.withLock { $0 } == [4])
    withExtendedLifetime(outer) {}
  }

  @Test func deadDelegatesDoNotCount() {
    let hub = MulticastDelegate<Counter>(duplicates: .allow)
    let warnings = Guarded<[Int]>([])
    hub.warnOfLeaks(above: 3) { warning in warnings.withLock { $0.append(warning.count) } }
    func add(_ delegate: Counter) { hub.add(delegate) }
    // So many slots that the dead delegates stay until they are pruned.
    let others = (0..<1000).map { _ in Counter() }
    for (line, other) in others.enumerated() { hub.add(other, line: UInt(line + 1000)) }
    for _ in 0..<20 { add(Counter()) }
    #expect(hub.prune() == 20)
    let delegate = Counter()
    for _ in 0..<3 { add(delegate) }
    #expect(warnings.withLock { $0 } == [])
    add(delegate)
    #expect(warnings.withLock { $0 } == [4])
  }

  @Test func aDeadDelegateBesideAsManyAsAreAllowedIsNoLeak() {
    let hub = MulticastDelegate<Counter>(duplicates: .allow)
    let warnings = Counter()
    hub.warnOfLeaks(above: 3) { _ in warnings.add() }
    let others = (0..<1000).map { _ in Counter() }
    for (line, other) in others.enumerated() { hub.add(other, line: UInt(line + 1000)) }
    let delegate = Counter()
    func add(_ delegate: Counter) { hub.add(delegate) }
    add(Counter())
    for _ in 0..<3 { add(delegate) }
    #expect(warnings.value == 0)
    #expect(hub.prune() == 1)
  }

  @Test(
    "a line that changes existing registrations made them", arguments: StorageStrategy.allCases)
  func changedRegistrationsCount(_ storage: StorageStrategy) {
    let hub = MulticastDelegate<Counter>(storage: storage)
    let warnings = Guarded<[LeakWarning]>([])
    hub.warnOfLeaks(above: 3) { warning in warnings.withLock { $0.append(warning) } }
    let delegates = (0..<6).map { _ in Counter() }
    for (line, delegate) in delegates.enumerated() { hub.add(delegate, line: UInt(line + 1000)) }
    for (index, delegate) in delegates.enumerated() {
      // Twice: the second changes nothing.
      for _ in 0..<2 {
        hub.add(delegate, on: .global(), fileID: "App/Board.swift", line: 12)
      }
      #expect(warnings.withLock { $0.count } == (index < 3 ? 0 : 1))
    }
    let warning = warnings.withLock { $0.first }
    #expect(warning?.site == CallSite(fileID: "App/Board.swift", line: 12))
    #expect(warning?.count == 4)
  }

  @Test func theHandlerMayRegisterAndCancel() {
    let hub = MulticastDelegate<Counter>(duplicates: .allow)
    let object = Counter()
    let warnings = Counter()
    hub.warnOfLeaks(above: 2) { [weak hub] _ in
      warnings.add()
      hub?.add(object).cancel()
      hub?.removeAll()
    }
    for _ in 1...3 { hub.add(object) }
    #expect(warnings.value == 1)
    #expect(hub.isEmpty)
  }

  @Test func manyThreadsGetOneWarning() {
    let hub = EventHub<Int>()
    let warnings = Counter()
    hub.warnOfLeaks(above: 10) { _ in warnings.add() }
    let kept = Guarded<[EventSubscription]>([])
    runThreads(4) { _ in
      for _ in 0..<100 {
        let subscription = hub.subscribe(on: .sender) { _ in }
        kept.withLock { $0.append(subscription) }
      }
    }
    #expect(warnings.value == 1)
    #expect(hub.subscriberCount == 400)
  }

  @Test func aLimitThatAllowsNoneIsRefused() async {
    let failure = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      EventHub<Int>(name: "prices").warnOfLeaks(above: 0) { _ in }
    }
    let message = failure.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } ?? ""
    #expect(message.contains("in the hub \"prices\": a limit of 0 registrations allows none"))
  }

  @Test func aSecondWatchIsRefused() async {
    let failure = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let hub = EventHub<Int>()
      hub.warnOfLeaks(above: 7) { _ in }
      hub.warnOfLeaks { _ in }
    }
    let message = failure.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } ?? ""
    #expect(message.contains("this hub warns of more than 7 registrations already"))
  }
}
