import Dispatch
import Foundation
import Multicast
import MulticastTestSupport
import Testing

private protocol Watching: AnyObject, Sendable {
  func notice(_ value: Int)
}
private final class Watcher: Watching {
  let tracker: LifetimeTracker
  init(_ tracker: LifetimeTracker) {
    self.tracker = tracker
    tracker.noteCreation()
  }
  deinit { tracker.noteDestruction() }
  func notice(_ value: Int) {}
}

@Suite("A snapshot shows the receivers of a hub, their places, and what waits for them")
struct SnapshotTests {
  @Test func aSnapshotOfAHubOfEventsRunsNoHooks() {
    let changes = Counter()
    let hub = EventHub<Int>(
      onLastSubscriber: { changes.add() }, onSubscriberChange: { _ in changes.add() })
    var owner: Watcher? = Watcher(LifetimeTracker())
    hub.subscribe(with: owner!, on: .sender) { _, _ in }
    owner = nil
    let before = changes.value
    #expect(hub.snapshot.receivers.isEmpty)
    #expect(changes.value == before)
    #expect(hub.subscriberCount == 0)
  }

  @Test func delegatesAreShownWithTypePlaceAndOwnership() {
    let tracker = LifetimeTracker()
    let hub = MulticastDelegate<any Watching>(duplicates: .allow, name: "watchers")
    do {
      let watcher = Watcher(tracker)
      hub.add(watcher, label: "first")
      hub.add(watcher, ownership: .strong, on: DispatchQueue(label: "slow"))
      let registration = hub.add(watcher, on: .main)
      registration.block()
      let snapshot = hub.snapshot
      #expect(snapshot.type == "MulticastDelegate<Watching>")
      #expect(snapshot.name == "watchers")
      #expect(snapshot.receivers.map(\.label) == ["first", nil, nil])
      #expect(snapshot.receivers.map(\.kind) == ["Watcher", "Watcher", "Watcher"])
      #expect(snapshot.receivers.map(\.place) == ["sender", "queue slow", "actor MainActor"])
      #expect(snapshot.receivers.map(\.isKept) == [false, true, false])
      #expect(snapshot.receivers.map(\.isBlocked) == [false, false, true])
      #expect(snapshot.receivers.map { $0.age != nil } == [true, false, false])
      #expect((snapshot.receivers[0].age ?? -1) >= 0)
      hub.removeAll()
      #expect(hub.snapshot.receivers.isEmpty)
    }
    #expect(tracker.created == 1)
    #expect(tracker.destroyed == 1)
  }

  @Test("the line of a delegate is right while its first call on an actor gives it a mailbox")
  func linesBesideFirstCalls() {
    let home = RecordingActor()
    let actors = (0..<32).map { _ in RecordingActor() }
    for round in 0..<400 {
      let hub = MulticastDelegate<RecordingActor>()
      for actor in actors { hub.add(actor, label: round % 2 == 0 ? "labelled" : nil) }
      let expected = hub.snapshot.receivers[0].site
      let barrier = StartBarrier(2)
      let wrong = Counter()
      runThreads(2) { thread in
        barrier.arriveAndWait()
        if thread == 0 {
          hub.invoke(onEach: { _ in home }) { _ in }
        } else {
          for receiver in hub.snapshot.receivers where receiver.site != expected { wrong.add() }
        }
      }
      #expect(wrong.value == 0)
    }
  }

  @Test func aDeadDelegateIsNotShown() {
    let tracker = LifetimeTracker()
    let hub = MulticastDelegate<any Watching>()
    hub.add(Watcher(tracker))
    #expect(hub.snapshot.receivers.isEmpty)
    #expect(tracker.live == 0)
  }

  @Test func aSubscriberWhoseOwnerIsGoneIsNotShown() {
    let tracker = LifetimeTracker()
    let hub = EventHub<Int>()
    let topics = TopicHub<String, Int>()
    do {
      let owner = Watcher(tracker)
      hub.subscribe(with: owner) { _, _ in }
      topics.subscribe(to: "a", with: owner) { _, _ in }
      #expect(hub.snapshot.receivers.map(\.isKept) == [false])
      #expect(topics.snapshot.receivers.map(\.isKept) == [false])
    }
    #expect(tracker.live == 0)
    #expect(hub.snapshot.receivers.isEmpty)
    #expect(topics.snapshot.receivers.isEmpty)
  }

  @Test(arguments: [OverflowPolicy.dropOldest, .dropNewest, .suspend])
  @MainActor func theDropsOfDelegatesThatAreGoneCount(whenFull: OverflowPolicy) {
    let hub = MulticastDelegate<any Watching>(name: "watchers")
    let queue = DispatchQueue(label: "suspended")
    queue.suspend()
    let tracker = LifetimeTracker()
    let buffering = QueueBuffering.bounded(2, whenFull: whenFull)
    let kept = Watcher(tracker)
    do {
      let (onQueue, onActor) = (Watcher(tracker), Watcher(tracker))
      hub.add(kept, on: queue, buffering: buffering)
      hub.add(onQueue, on: queue, buffering: buffering)
      hub.add(onActor, on: .main, buffering: .latest)
      for value in 1...5 { hub.invoke { $0.notice(value) } }
      #expect(hub.snapshot.dropped == 3 + 3 + 4)
      hub.remove(onQueue)
    }
    #expect(hub.snapshot.receivers.map { $0.statistics?.dropped } == [3])
    #expect(hub.snapshot.dropped == 3 + 3 + 4)

    // The new terms replace the buffer, with its counts.
    hub.add(kept, on: queue, buffering: .bounded(1, whenFull: whenFull))
    for value in 1...5 { hub.invoke { $0.notice(value) } }
    #expect(hub.snapshot.receivers.map { $0.statistics?.dropped } == [4])
    #expect(hub.snapshot.dropped == 3 + 3 + 4 + 4)
    queue.resume()
  }

  @Test func whatWaitsAndWhatWasDroppedIsCounted() {
    let hub = EventHub<Int>(name: "prices")
    let queue = DispatchQueue(label: "suspended")
    queue.suspend()
    let slow = hub.subscribe(on: queue, label: "slow") { _ in }
    let sequence = hub.events(buffering: .bounded(2, whenFull: .dropOldest), label: "stored")
    let inline = hub.subscribe(on: .sender) { _ in }
    for value in 0..<5 { hub.send(value) }
    let snapshot = hub.snapshot
    #expect(snapshot.type == "EventHub<Int>")
    #expect(snapshot.pending == 7)
    #expect(snapshot.dropped == 3)
    #expect(snapshot.receivers.map(\.kind) == ["handler", "sequence", "handler"])
    #expect(snapshot.receivers.map(\.place) == ["queue suspended", "consumer", "sender"])
    #expect(snapshot.receivers.map { $0.statistics?.pending } == [5, 2, nil])
    #expect(snapshot.receivers.map { $0.statistics?.dropped } == [0, 3, nil])
    hub.finish()
    hub.send(6)
    #expect(hub.snapshot.refused == 1)
    #expect(hub.snapshot.pending == 7)
    queue.resume()
    withExtendedLifetime((slow, sequence, inline)) {}
  }

  @Test func topicsAndPatternsAreNamed() {
    let hub = TopicHub<String, Int>(name: "rooms")
    let all = hub.allTopics.subscribe { _ in }
    let pattern = hub.subscribe(matching: ["b.>", "a.*"]) { _ in }
    let topic = hub.subscribe(to: "a.b") { _ in }
    #expect(hub.snapshot.receivers.map(\.topic) == [nil, "a.*, b.>", "a.b"])
    #expect(hub.snapshot.name == "rooms")
    withExtendedLifetime((all, pattern, topic)) {}
  }

  @Test("an age is in seconds, and known of what has a label or was watched")
  func ages() {
    let (hub, measured) = (EventHub<Int>(), EventHub<Int>())
    measured.measureHandlers()
    let began = ContinuousClock.now
    var subscriptions = [
      hub.subscribe(on: .sender, label: "board") { _ in },
      hub.subscribe(on: .sender) { _ in },
      measured.subscribe(on: .sender) { _ in },
    ]
    hub.warnOfLeaks { _ in }
    subscriptions.append(hub.subscribe(on: .sender) { _ in })
    let registered = ContinuousClock.now
    while ContinuousClock.now < registered + .milliseconds(1) {}
    let ages = (hub.snapshot.receivers + measured.snapshot.receivers).map(\.age)
    let longest = (ContinuousClock.now - began) / .seconds(1)
    #expect(ages.map { $0 == nil } == [false, true, false, false])
    #expect(ages.compactMap { $0 }.allSatisfy { $0 >= 0.001 && $0 <= longest })
    withExtendedLifetime(subscriptions) {}
  }

  @Test func aSnapshotSurvivesCoding() throws {
    let hub = EventHub<Int>(name: "prices")
    let subscription = hub.subscribe(on: .main, label: "board") { _ in }
    hub.send(1)
    let snapshot = hub.snapshot
    let data = try JSONEncoder().encode(snapshot)
    #expect(try JSONDecoder().decode(HubSnapshot.self, from: data) == snapshot)
    let children = snapshot.customMirror.children.compactMap(\.label)
    #expect(children == ["type", "name", "pending", "dropped", "refused", "receivers"])
    subscription.cancel()
  }

  @Test func countsOfAHubSurviveCoding() throws {
    let hub = EventHub<Int>()
    let subscription = hub.subscribe(on: .main) { _ in }
    hub.send(1)
    let statistics = hub.statistics
    #expect(statistics.subscribers == 1)
    let data = try JSONEncoder().encode(statistics)
    #expect(try JSONDecoder().decode(HubStatistics.self, from: data) == statistics)
    subscription.cancel()
  }

  @Test("counts that no hub has, from another process, do not end this one")
  func decodedCounts() throws {
    let hub = EventHub<Int>()
    let subscriptions = (0..<2).map { _ in hub.subscribe(on: .main) { _ in } }
    let text = String(decoding: try JSONEncoder().encode(hub.snapshot), as: UTF8.self)
    let wrong = text.replacingOccurrences(of: "\"enqueued\":0", with: "\"enqueued\":\(Int.max)")
      .replacingOccurrences(of: "\"delivered\":0", with: "\"delivered\":-1")
    let snapshot = try JSONDecoder().decode(HubSnapshot.self, from: Data(wrong.utf8))
    #expect(snapshot.receivers.first?.statistics?.enqueued == .max)
    #expect(snapshot.receivers.first?.statistics?.delivered == -1)
    #expect(snapshot.description.contains("2 receivers"))
    withExtendedLifetime(subscriptions) {}
  }

  @Test func theDescriptionIsATable() {
    let hub = EventHub<Int>(name: "prices")
    #expect(
      hub.snapshot.description
        == "EventHub<Int> \"prices\": 0 receivers, 0 pending, 0 dropped, 0 refused")
    let queue = DispatchQueue(label: "slow")
    queue.suspend()
    let first = hub.subscribe(on: queue, fileID: "App/Board.swift", line: 12) { _ in }
    let second = hub.subscribe(on: .sender, fileID: "App/A.swift", line: 3) { _ in }
    hub.send(1)
    let expected = """
      EventHub<Int> "prices": 2 receivers, 1 pending, 0 dropped, 0 refused
        made at             label  topic  receiver  place       age  delivered  pending  dropped
        App/Board.swift:12                handler   queue slow               0        1        0
        App/A.swift:3                     handler   sender                   -        -        -
      """
    #expect(hub.snapshot.description == expected)
    queue.resume()
    withExtendedLifetime((first, second)) {}
  }

  @Test func eachReceiverHasOneLine() {
    let hub = EventHub<Int>(name: "a\nb")
    let subscription = hub.subscribe(label: "c\r\nd") { _ in }
    let lines = hub.snapshot.description.split(whereSeparator: \.isNewline)
    #expect(lines.count == 3 && lines[0].contains("a b") && lines[2].contains("c d"))
    withExtendedLifetime(subscription) {}
  }
}
