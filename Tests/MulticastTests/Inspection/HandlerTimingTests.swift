import Dispatch
import Multicast
import MulticastTestSupport
import Testing

private final class Owner: Sendable {}

@Suite("A hub that measures its handlers counts each call, and times a part of them")
struct HandlerTimingTests {
  @Test func eachCallIsCountedAndAPartIsTimed() throws {
    let hub = EventHub<Int>()
    let before = hub.subscribe(on: .sender) { _ in }
    hub.measureHandlers(sampling: 1)
    let every = hub.subscribe(on: .sender) { _ in }
    #expect(hub.snapshot.receivers.map { $0.timing?.calls } == [nil, 0])
    #expect(hub.snapshot.receivers.last?.timing?.last == nil)
    for value in 0..<100 { hub.send(value) }
    let timing = try #require(hub.snapshot.receivers.last?.timing)
    #expect(timing.calls == 100)
    let last = try #require(timing.last)
    let slowest = try #require(timing.slowest)
    #expect(0 < last && last <= slowest)
    withExtendedLifetime((before, every)) {}
  }

  @Test func oneOfAnIntervalIsTimed() {
    let hub = EventHub<Int>()
    let slow = Counter()
    hub.measureHandlers(sampling: 33, slowerThan: .zero) { _ in slow.add() }  // 33: each 64th
    let reports = Guarded<[Int]>([])
    let subscription = hub.subscribe(on: .sender) { _ in reports.withLock { $0.append(slow.value) }
    }
    hub.send(0)
    let first = hub.snapshot.receivers.first?.timing?.last
    for value in 1..<64 { hub.send(value) }
    // The first call is timed, and reported after it; the 65th is the next.
    #expect(first != nil)
    #expect(hub.snapshot.receivers.first?.timing?.last == first)
    #expect(slow.value == 1)
    #expect(reports.withLock { $0 } == [0] + [Int](repeating: 1, count: 63))
    withExtendedLifetime(subscription) {}
  }

  @Test(arguments: [1 << 62 + 1, 1 << 62 + 2, .max])
  func theLargestIntervalsTimeTheFirstCallOnly(_ interval: Int) {
    let hub = EventHub<Int>()
    hub.measureHandlers(sampling: interval)
    let subscription = hub.subscribe(on: .sender) { _ in }
    hub.send(0)
    let first = hub.snapshot.receivers.first?.timing
    for value in 1..<100 { hub.send(value) }
    #expect(first?.last != nil)
    #expect(hub.snapshot.receivers.first?.timing?.last == first?.last)
    #expect(hub.snapshot.receivers.first?.timing?.calls == 100)
    withExtendedLifetime(subscription) {}
  }

  @Test func everyKindOfHandlerIsMeasured() async {
    let hub = EventHub<Int>(retention: .last(1))
    hub.measureHandlers()
    let owner = Owner()
    let queue = DispatchQueue(label: "queue")
    let subscriptions = [
      hub.subscribe(on: .sender) { _ in },
      hub.subscribe(on: .main) { _ in },
      hub.subscribe(on: queue) { _ in },
      hub.subscribe { (_: Int) async in },
      hub.subscribe(from: .live, on: .sender) { _ in },
      hub.subscribe(from: .live, on: queue) { _ in },
    ]
    hub.subscribe(with: owner) { _, _ in }
    let sequence = hub.events()
    hub.send(1)
    hub.send(2)
    var iterator = sequence.makeAsyncIterator() as EventSequence<Int>.Iterator?
    _ = await iterator?.next()
    _ = await iterator?.next()
    iterator = nil
    await hub.flush()
    let timings = hub.snapshot.receivers.map { $0.timing?.calls }
    #expect(timings == [2, 2, 2, 2, 2, 2, 2])
    withExtendedLifetime((subscriptions, owner)) {}
  }

  @Test func theHandlersOfAStateAreMeasured() {
    let hub = StateHub<Int, Int>(0) { $0 += $1 }
    hub.measureHandlers()
    let subscription = hub.subscribe(on: .sender) { _ in }
    hub.apply(1)
    // Once for the snapshot, and once for the change.
    #expect(hub.snapshot.receivers.map { $0.timing?.calls } == [2])
    withExtendedLifetime(subscription) {}
  }

  @Test func aChangeThatTheSnapshotHasIsNoCall() async {
    let hub = StateHub<Int, Int>(0) { $0 += $1 }
    hub.measureHandlers()
    let calls = Counter()
    let queue = DispatchQueue(label: "suspended")
    queue.suspend()
    let subscription = hub.subscribe(on: queue) { _ in calls.add() }
    for change in 1...3 { hub.apply(change) }
    queue.resume()
    await hub.flush()
    #expect(calls.value == 1)
    #expect(hub.snapshot.receivers.map { $0.timing?.calls } == [1])
    withExtendedLifetime(subscription) {}
  }

  @Test func aDuplicateIsNoCall() {
    let hub = EventHub<Int>()
    hub.measureHandlers()
    let calls = Counter()
    let subscription = hub.subscribe(on: .sender, options: [.removingDuplicates]) { _ in
      calls.add()
    }
    for event in [1, 1, 1, 2] { hub.send(event) }
    #expect(calls.value == 2)
    #expect(hub.snapshot.receivers.map { $0.timing?.calls } == [2])
    withExtendedLifetime(subscription) {}
  }

  @Test func aSlowCallIsReportedWithItsLine() throws {
    let hub = EventHub<Int>(name: "prices")
    let warnings = Guarded<[SlowHandlerWarning]>([])
    hub.measureHandlers(sampling: 1, slowerThan: .zero) { [weak hub] warning in
      warnings.withLock { $0.append(warning) }
      _ = hub?.snapshot  // With no lock held.
      hub?.cancelSubscriptions()
    }
    let subscription = hub.subscribe(
      on: .sender, label: "board", fileID: "App/Board.swift", line: 12
    ) { _ in }
    hub.send(1)
    hub.send(2)
    let warning = try #require(warnings.withLock { $0.first })
    #expect(warnings.withLock { $0.count } == 1)
    #expect(warning.hub == "prices")
    #expect(warning.label == "board")
    #expect(warning.site == CallSite(fileID: "App/Board.swift", line: 12))
    #expect(warning.duration > .zero)
    let beginning =
      "Multicast: in the hub \"prices\": a call of the handler \"board\" of App/Board.swift:12 took "
    #expect(warning.description.hasPrefix(beginning))
    #expect(!subscription.isActive)
  }

  @Test func eachReportIsOfACallThatTookMoreThanTwiceAsLong() {
    let hub = EventHub<Int>()
    let reported = Guarded<[Duration]>([])
    hub.measureHandlers(sampling: 1, slowerThan: .zero) { warning in
      reported.withLock { $0.append(warning.duration) }
    }
    let subscription = hub.subscribe(on: .sender) { microseconds in
      let end = ContinuousClock.now + .microseconds(microseconds)
      while ContinuousClock.now < end {}
    }
    // Calls that take longer and longer, by less than that.
    var microseconds = 20
    while microseconds < 2000 {
      hub.send(microseconds)
      microseconds += microseconds / 5
    }
    let durations = reported.withLock { $0 }
    #expect(!durations.isEmpty)
    for (earlier, later) in zip(durations, durations.dropFirst()) { #expect(later > earlier * 2) }
    withExtendedLifetime(subscription) {}
  }

  @Test func aFastCallIsNotReported() {
    let hub = EventHub<Int>()
    let warnings = Counter()
    hub.measureHandlers(sampling: 1, slowerThan: .seconds(3600)) { _ in warnings.add() }
    let subscription = hub.subscribe(on: .sender) { _ in }
    for value in 0..<1000 { hub.send(value) }
    #expect(warnings.value == 0)
    withExtendedLifetime(subscription) {}
  }

  @Test func concurrentCallsAreAllCounted() {
    let hub = EventHub<Int>()
    hub.measureHandlers()
    let received = Counter()
    let subscription = hub.subscribe(on: .sender) { _ in received.add() }
    runThreads(4) { _ in
      for value in 0..<10_000 { hub.send(value) }
    }
    #expect(received.value == 40_000)
    #expect(hub.snapshot.receivers.map { $0.timing?.calls } == [40_000])
    withExtendedLifetime(subscription) {}
  }

  @Test func anIntervalOfZeroIsRefused() async {
    let failure = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      EventHub<Int>(name: "prices").measureHandlers(sampling: 0)
    }
    let message = failure.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } ?? ""
    #expect(message.contains("in the hub \"prices\": one of 0 calls cannot be measured"))
  }

  @Test func measuringTwiceIsRefused() async {
    let failure = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let hub = EventHub<Int>()
      hub.measureHandlers()
      hub.measureHandlers()
    }
    let message = failure.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } ?? ""
    #expect(message.contains("handlers are measured already"))
  }
}
