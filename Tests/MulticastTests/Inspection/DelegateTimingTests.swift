import Dispatch
import Multicast
import MulticastTestSupport
import Testing

private protocol Listening: AnyObject, Sendable {
  func hear(_ value: Int)
}

private final class Listener: Listening {
  let journal = Journal()
  func hear(_ value: Int) { journal.record(value) }
}

private actor Radio: Listening {
  nonisolated let journal = Journal()
  nonisolated func hear(_ value: Int) { journal.record(value) }
}

private struct Failure: Error {}

@Suite("A hub that measures its delegates counts each call, and times a part of them")
struct DelegateTimingTests {
  private func calls<Delegate>(of hub: MulticastDelegate<Delegate>) -> [Int?] {
    hub.snapshot.receivers.map { $0.timing?.calls }
  }

  @Test("on the calling thread, with each storage", arguments: StorageStrategy.allCases)
  func direct(_ storage: StorageStrategy) throws {
    let hub = MulticastDelegate<any Listening>(storage: storage)
    let listeners = (0..<3).map { _ in Listener() }
    hub.add(listeners[0])
    hub.measureDelegates(sampling: 1)
    hub.add(listeners[1])
    hub.add(listeners[2], ownership: .strong)
    #expect(calls(of: hub) == [nil, 0, 0])
    hub.forEach { $0.hear(1) }
    hub.invoke { $0.hear(2) }
    #expect(hub.results { $0.hear(3) }.count == 3)
    hub.forEach(as: Listener.self) { $0.hear(4) }
    #expect(hub.firstResult { _ in 5 as Int? } == 5)  // calls the first only, which is not measured
    #expect(calls(of: hub) == [nil, 4, 4])
    for listener in listeners { #expect(listener.journal.entries == [1, 2, 3, 4]) }
    for timing in hub.snapshot.receivers.compactMap(\.timing) {
      let last = try #require(timing.last)
      #expect(0 < last && last <= timing.slowest ?? 0)
    }
  }

  @Test("with the largest interval the first call only is timed")
  func largestInterval() {
    let hub = MulticastDelegate<any Listening>()
    hub.measureDelegates(sampling: .max)
    let listener = Listener()
    hub.add(listener)
    hub.forEach { $0.hear(1) }
    let first = hub.snapshot.receivers.first?.timing
    for value in 2...100 { hub.forEach { $0.hear(value) } }
    #expect(first?.last != nil)
    #expect(hub.snapshot.receivers.first?.timing?.last == first?.last)
    #expect(calls(of: hub) == [100])
  }

  @Test("a call that throws is counted and timed")
  func errors() throws {
    let hub = MulticastDelegate<any Listening>()
    hub.measureDelegates(sampling: 1)
    let listener = Listener()
    hub.add(listener)
    #expect(throws: Failure.self) { try hub.forEach { _ in throw Failure() } }
    let timing = try #require(hub.snapshot.receivers.first?.timing)
    #expect(timing.calls == 1)
    #expect(timing.last != nil)
  }

  @Test("on a queue, on the main actor and on an actor; by isolated invocations")
  func places() async {
    let hub = MulticastDelegate<any Listening>()
    hub.measureDelegates(sampling: 1)
    let listeners = (0..<4).map { _ in Listener() }
    let radio = Radio()
    hub.add(listeners[0], on: DispatchQueue(label: "queue"))
    hub.add(listeners[1], on: .main)
    hub.add(listeners[2], on: radio)
    hub.add(listeners[3])
    for value in 1...3 { hub.invoke { $0.hear(value) } }
    await hub.flush()
    #expect(calls(of: hub) == [3, 3, 3, 3])
    hub.invokeIsolated { @MainActor in $0.hear(4) }
    await hub.flush()
    #expect(calls(of: hub) == [4, 4, 4, 4])
    for listener in listeners { #expect(listener.journal.entries == [1, 2, 3, 4]) }
  }

  @Test("of actors that are delegates")
  func actors() async {
    let hub = MulticastDelegate<Radio>()
    hub.measureDelegates(sampling: 1)
    let radios = [Radio(), Radio()]
    for radio in radios { hub.add(radio) }
    for value in 1...3 { hub.invoke(onEach: { $0 }) { await $0.hearInside(value) } }
    await hub.flush()
    #expect(calls(of: hub) == [3, 3])
    for radio in radios { #expect(radio.journal.entries == [1, 2, 3]) }
  }

  @Test("of a MulticastActor, one after the other and concurrently")
  func asynchronous() async throws {
    let hub = MulticastActor<Radio>()
    let radios = [Radio(), Radio(), Radio()]
    hub.add(radios[0])
    hub.measureDelegates(sampling: 1)
    hub.add(radios[1])
    hub.add(radios[2], ownership: .strong)
    func calls() -> [Int?] { hub.snapshot.receivers.map { $0.timing?.calls } }
    await hub.invoke { await $0.hearInside(1) }
    #expect(calls() == [nil, 1, 1])
    _ = await hub.invokeConcurrently { await $0.hearInside(2) }
    #expect(calls() == [nil, 2, 2])
    await #expect(throws: Failure.self) {
      try await hub.invoke { radio throws(Failure) in
        if radio === radios[1] { throw Failure() }
      }
    }
    #expect(calls() == [nil, 3, 2])
    for radio in radios { #expect(radio.journal.entries == [1, 2]) }
    let timing = try #require(hub.snapshot.receivers.last?.timing)
    #expect(try 0 < #require(timing.last))
  }

  @Test("a slow call is reported with its line, in the callback, with no lock held")
  func slow() throws {
    let hub = MulticastDelegate<any Listening>(name: "views")
    let warnings = Guarded<[SlowHandlerWarning]>([])
    let registrations = Guarded<[Registration<any Listening>]>([])
    // The hub has the callback, and the registration refers to the hub.
    defer { registrations.withLock { $0 = [] } }
    hub.measureDelegates(sampling: 1, slowerThan: .zero) { [weak hub] warning in
      warnings.withLock { $0.append(warning) }
      _ = hub?.snapshot
      for registration in registrations.withLock({ $0 }) {
        registration.cancelAndWait(timeout: .seconds(60))
      }
    }
    let listener = Listener()
    let added = hub.add(listener, label: "board", fileID: "App/Board.swift", line: 12)
    registrations.withLock { $0 = [added] }
    hub.forEach { $0.hear(1) }
    hub.forEach { $0.hear(2) }
    #expect(listener.journal.entries == [1])
    let warning = try #require(warnings.withLock { $0.first })
    #expect(warnings.withLock { $0.count } == 1)
    #expect(warning.site == CallSite(fileID: "App/Board.swift", line: 12))
    let beginning =
      "Multicast: in the hub \"views\": a call of the delegate \"board\" of App/Board.swift:12 took "
    #expect(warning.description.hasPrefix(beginning))
  }

  @Test("a delegate that is blocked, dead or removed is not called, and not counted")
  func notCalled() throws {
    let hub = MulticastDelegate<any Listening>()
    hub.measureDelegates(sampling: 1)
    var dead: Listener? = Listener()
    let (blocked, removed) = (Listener(), Listener())
    hub.add(dead!)
    let registration = hub.add(blocked)
    let other = hub.add(removed)
    registration.block()
    other.cancel()
    dead = nil
    hub.forEach { $0.hear(1) }
    #expect(calls(of: hub) == [0])
    registration.unblock()
    hub.forEach { $0.hear(2) }
    #expect(calls(of: hub) == [1])
    #expect(blocked.journal.entries == [2])
    #expect(removed.journal.entries.isEmpty)
  }

  @Test("a registration keeps its measurement if a second add changes it")
  func merged() async {
    let hub = MulticastDelegate<any Listening>()
    hub.measureDelegates(sampling: 1)
    let listener = Listener()
    hub.add(listener, on: DispatchQueue(label: "queue"))
    hub.invoke { $0.hear(1) }
    await hub.flush()
    hub.add(listener, ownership: .strong)  // keeps the queue
    hub.invoke { $0.hear(2) }
    await hub.flush()
    #expect(listener.journal.entries == [1, 2])
    #expect(calls(of: hub) == [1], "the new registration counts anew")
  }

  @Test("concurrent calls are all counted, and delegates live as long as ever")
  func concurrent() {
    let lifetimes = LifetimeTracker()
    do {
      let hub = MulticastDelegate<Tracked>()
      hub.measureDelegates()
      let kept = (0..<4).map { _ in Tracked(lifetimes) }
      for delegate in kept { hub.add(delegate) }
      runThreads(4) { thread in
        for round in 0..<2_500 {
          hub.forEach { $0.calls.add() }
          if round % 10 == 0 { hub.add(Tracked(lifetimes), ownership: .strong).cancel() }
        }
      }
      for delegate in kept { #expect(delegate.calls.value == 10_000) }
      #expect(calls(of: hub) == [10_000, 10_000, 10_000, 10_000])
    }
    #expect(lifetimes.live == 0)
  }

  @Test("an interval of zero, and a second call, are refused")
  func refused() async {
    let interval = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      MulticastDelegate<AnyObject>(name: "views").measureDelegates(sampling: 0)
    }
    let second = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let hub = MulticastActor<Radio>(name: "views")
      hub.measureDelegates()
      hub.measureDelegates()
    }
    func message(_ result: ExitTest.Result?) -> String {
      result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } ?? ""
    }
    #expect(message(interval).contains("in the hub \"views\": one of 0 calls cannot be measured"))
    #expect(message(second).contains("delegates are measured already; call measureDelegates once"))
  }
}

extension Radio {
  fileprivate func hearInside(_ value: Int) { hear(value) }
}

private final class Tracked: Sendable {
  let calls = Counter()
  private let lifetimes: LifetimeTracker

  init(_ lifetimes: LifetimeTracker) {
    self.lifetimes = lifetimes
    lifetimes.noteCreation()
  }

  deinit { lifetimes.noteDestruction() }
}
