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

  @Test func registrationsThatEndDuringAnInvocationAreNoLeak() {
    // The memory of what is removed during an invocation is freed later, and still counted until then.
    let hub = EventHub<Int>()
    let warnings = Counter()
    hub.warnOfLeaks(above: 3) { _ in warnings.add() }
    let outer = hub.subscribe(on: .sender) { [weak hub] _ in
      for _ in 0..<100 { hub?.subscribe(on: .sender) { _ in }.cancel() }
    }
    hub.send(1)
    #expect(warnings.value == 0)
    withExtendedLifetime(outer) {}
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
    #expect(message.contains("it warns of more than 7 registrations already"))
  }
}
