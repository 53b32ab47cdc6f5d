import Dispatch
import Multicast
import MulticastTestSupport
import Testing

private protocol Watching: AnyObject, Sendable {}
private final class Watcher: Watching {}
private actor Keeper {}

/// The line of this file from which the last receiver of a snapshot was registered.
private func lastLine(of snapshot: HubSnapshot) -> Int? {
  guard let site = snapshot.receivers.last?.site else { return nil }
  return site.fileID == "MulticastTests/CallSiteTests.swift" ? site.line : nil
}

@Suite("A snapshot names the line that made each registration and each subscription")
struct CallSiteTests {
  @Test func registrationsOfDelegates() async {
    let hub = MulticastDelegate<any Watching>(duplicates: .allow)
    let watcher = Watcher()
    let keeper = Keeper()
    hub.add(watcher); #expect(lastLine(of: hub.snapshot) == #line)
    hub.add(watcher, ownership: .strong); #expect(lastLine(of: hub.snapshot) == #line)
    hub.add(watcher, on: .main); #expect(lastLine(of: hub.snapshot) == #line)
    hub.add(watcher, on: DispatchQueue(label: "a")); #expect(lastLine(of: hub.snapshot) == #line)
    hub.add(watcher, on: keeper); #expect(lastLine(of: hub.snapshot) == #line)
    let actor = MulticastActor<any Watching>()
    actor.add(watcher); #expect(lastLine(of: actor.snapshot) == #line)
  }

  @Test func handlersOfEvents() async {
    let hub = EventHub<Int>(retention: .last(1))
    let owner = Watcher()
    let keeper = Keeper()
    let queue = DispatchQueue(label: "a")
    var kept: [EventSubscription] = []
    kept.append(hub.subscribe { _ in }); #expect(lastLine(of: hub.snapshot) == #line)
    kept.append(hub.subscribe { (_: Int) async in }); #expect(lastLine(of: hub.snapshot) == #line)
    kept.append(hub.subscribe(on: .sender) { _ in }); #expect(lastLine(of: hub.snapshot) == #line)
    kept.append(hub.subscribe(on: .main) { _ in }); #expect(lastLine(of: hub.snapshot) == #line)
    kept.append(hub.subscribe(on: queue) { _ in }); #expect(lastLine(of: hub.snapshot) == #line)
    hub.subscribe(with: owner) { _, _ in }; #expect(lastLine(of: hub.snapshot) == #line)
    hub.subscribe(with: owner) { (_, _) async in }; #expect(lastLine(of: hub.snapshot) == #line)
    hub.subscribe(with: owner, on: .main) { _, _ in }; #expect(lastLine(of: hub.snapshot) == #line)
    hub.subscribe(with: owner, on: .sender) { _, _ in }
    #expect(lastLine(of: hub.snapshot) == #line - 1)
    hub.subscribe(with: owner, on: queue) { _, _ in }
    #expect(lastLine(of: hub.snapshot) == #line - 1)
    hub.subscribe(with: keeper) { (_: isolated Keeper, _: Int) in }
    #expect(lastLine(of: hub.snapshot) == #line - 1)
    kept.append(hub.subscribe { (_: EventSubscription, _: Int) in })
    #expect(lastLine(of: hub.snapshot) == #line - 1)
    kept.append(hub.subscribe(from: .live) { _ in }); #expect(lastLine(of: hub.snapshot) == #line)
    let sequences: [Any] = [
      hub.events(),
      hub.events(from: .retained),
    ]
    let lines = hub.snapshot.receivers.suffix(2).map { $0.site?.line }
    #expect(lines == [#line - 4, #line - 3])
    withExtendedLifetime((kept, sequences)) {}
  }

  @Test func subscribersOfAHubWithoutReplay() {
    let hub = EventHub<Int>()
    let subscription = hub.subscribe { _ in }; #expect(lastLine(of: hub.snapshot) == #line)
    let sequence = hub.events(); #expect(lastLine(of: hub.snapshot) == #line)
    withExtendedLifetime((subscription, sequence)) {}
  }

  @Test func subscribersOfTopicsAndPatterns() {
    let hub = TopicHub<String, Int>(retention: .last(1))
    let owner = Watcher()
    var kept: [Any] = []
    kept.append(hub.subscribe(to: "a") { _ in }); #expect(lastLine(of: hub.snapshot) == #line)
    kept.append(hub.subscribe(to: "a", on: .sender) { _ in })
    #expect(lastLine(of: hub.snapshot) == #line - 1)
    hub.subscribe(to: "a", with: owner) { _, _ in }; #expect(lastLine(of: hub.snapshot) == #line)
    kept.append(hub.events(for: "a")); #expect(lastLine(of: hub.snapshot) == #line)
    kept.append(hub.events(for: "a", from: .live)); #expect(lastLine(of: hub.snapshot) == #line)
    let patterns = TopicHub<String, Int>(retention: .last(1))
    kept.append(patterns.subscribe(matching: "a.*") { _ in })
    #expect(lastLine(of: patterns.snapshot) == #line - 1)
    kept.append(patterns.events(matching: "a.*")); #expect(lastLine(of: patterns.snapshot) == #line)
    kept.append(patterns.events(matching: ["a.*"], from: .live))
    #expect(lastLine(of: patterns.snapshot) == #line - 1)
    kept.append(patterns.allTopics.subscribe { _ in })
    #expect(patterns.snapshot.receivers.first?.site?.line == #line - 1)
    withExtendedLifetime(kept) {}
  }

  @Test func subscribersOfAState() {
    let hub = StateHub<Int, Int>(0) { $0 += $1 }
    let owner = Watcher()
    let first = hub.subscribe { _ in }; #expect(lastLine(of: hub.snapshot) == #line)
    let second = hub.subscribe(on: .main) { _ in }; #expect(lastLine(of: hub.snapshot) == #line)
    hub.subscribe(with: owner) { _, _ in }; #expect(lastLine(of: hub.snapshot) == #line)
    let updates = hub.updates(); #expect(lastLine(of: hub.snapshot) == #line)
    let values = hub.values { $0 }; #expect(lastLine(of: hub.snapshot) == #line)
    withExtendedLifetime((first, second, updates, values)) {}
  }

  @Test("what has no place for the line has none, and is no line with too many registrations")
  func unknownLines() async {
    let watchers = [Watcher(), Watcher()]
    let delegates = MulticastDelegate<any Watching>(watchers)
    let hub = EventHub<Int>()
    let topics = TopicHub<String, Int>()
    let warnings = Counter()
    delegates.warnOfLeaks(above: 1) { _ in warnings.add() }
    hub.warnOfLeaks(above: 1) { _ in warnings.add() }
    topics.warnOfLeaks(above: 1) { _ in warnings.add() }
    let others = [Watcher(), Watcher()]
    for watcher in others { delegates += watcher }
    #expect(delegates.snapshot.receivers.map(\.site) == [nil, nil, nil, nil])
    withExtendedLifetime((watchers, others)) {}
    await withTaskGroup { group in
      for _ in 0..<2 {
        group.addTask { _ = await hub.first { $0 > 0 } }
        group.addTask { _ = await topics.first(for: "a") { $0 > 0 } }
        group.addTask { _ = await topics.first(matching: "*") { $0.event > 0 } }
      }
      await eventually { hub.subscriberCount + topics.subscriberCount(reaching: "a") == 6 }
      let receivers = hub.snapshot.receivers + topics.snapshot.receivers
      #expect(receivers.map(\.site) == Array(repeating: nil, count: 6))
      hub.send(1)
      topics.send(1, to: "a")
    }
    #expect(warnings.value == 0)
  }

  @Test func aDelegateThatIsAddedAgainKeepsItsLine() {
    let hub = MulticastDelegate<any Watching>()
    let watcher = Watcher()
    hub.add(watcher); let line = #line
    hub.add(watcher)
    #expect(hub.snapshot.receivers.map { $0.site?.line } == [line])
  }

  @Test func theLineIsKeptWhenAnInvocationGivesADelegateAMailbox() async {
    let hub = MulticastDelegate<Keeper>()
    let keeper = Keeper()
    hub.add(keeper, label: "kept")
    let line = #line - 1
    hub.invoke(onEach: { $0 }) { _ in }
    await hub.flush()
    let snapshot = hub.snapshot
    #expect(snapshot.receivers.map(\.place) == ["actor Keeper"])
    #expect(snapshot.receivers.map { $0.site?.line } == [line])
    #expect(snapshot.receivers.map(\.label) == ["kept"])
  }

  @Test func aWrapperPassesTheLineOfItsCaller() {
    let hub = EventHub<Int>()
    let subscription = hub.subscribe(fileID: "App/Board.swift", line: 12) { _ in }
    #expect(hub.snapshot.receivers.map { $0.site?.description } == ["App/Board.swift:12"])
    subscription.cancel()
    for line: UInt in [16_384, 20_000] {
      let far = hub.subscribe(fileID: "App/Board.swift", line: line) { _ in }
      #expect(hub.snapshot.receivers.map(\.site) == [CallSite(fileID: "App/Board.swift", line: 0)])
      far.cancel()
    }
    let largest = hub.subscribe(fileID: "App/Board.swift", line: 16_383) { _ in }
    #expect(hub.snapshot.receivers.map { $0.site?.line } == [16_383])
    largest.cancel()
  }
}
