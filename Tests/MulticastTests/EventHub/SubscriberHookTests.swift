import Dispatch
import Multicast
import MulticastTestSupport
import Testing

@Suite("A subscriber gets what is sent because it was reported, in hubs of every order")
struct SubscriberHookTests {
  enum Kind: CaseIterable {
    case perSender, total, replaying, totalReplaying, retaining

    func hub(
      onFirst: @escaping @Sendable () -> Void = {},
      onChange: @escaping @Sendable (SubscriberChange) -> Void = { _ in }
    ) -> EventHub<Int> {
      EventHub(
        replay: self == .replaying || self == .totalReplaying ? 1 : 0,
        retention: self == .retaining ? .last(9) : .none,
        ordering: self == .total || self == .totalReplaying ? .total : .perSender,
        onFirstSubscriber: onFirst, onSubscriberChange: onChange)
    }
  }

  /// Sends 1, 2 and 3 when a subscriber is reported.
  private func source(_ kind: Kind, isFirst: Bool) -> (EventHub<Int>, Holder<EventHub<Int>>) {
    let source = Holder<EventHub<Int>>(nil)
    let send: @Sendable () -> Void = { for event in 1...3 { source.value?.send(event) } }
    let hub =
      isFirst
      ? kind.hub(onFirst: send)
      : kind.hub(onChange: { change in if case .added = change { send() } })
    source.value = hub
    return (hub, source)
  }

  @Test("by a hook", arguments: Kind.allCases, [false, true])
  func hooks(_ kind: Kind, isFirst: Bool) async {
    do {
      let (hub, source) = source(kind, isFirst: isFirst)
      let journal = Journal()
      let subscription = hub.subscribe(on: .sender) { journal.record($0) }
      #expect(journal.entries == [1, 2, 3])
      source.value = nil
      subscription.cancel()
    }
    do {
      let (hub, source) = source(kind, isFirst: isFirst)
      let journal = Journal()
      let subscription = hub.subscribe(on: .global()) { journal.record($0) }
      await hub.flush()
      #expect(journal.entries == [1, 2, 3])
      source.value = nil
      subscription.cancel()
    }
    do {
      let (hub, source) = source(kind, isFirst: isFirst)
      let sequence = hub.events()
      source.value = nil
      hub.finish()
      var events: [Int] = []
      for await event in sequence { events.append(event) }
      #expect(events == [1, 2, 3])
    }
  }

  @Test("by a hook, to one that receives positions", arguments: [false, true])
  func positions(isFirst: Bool) async {
    let (hub, source) = source(.retaining, isFirst: isFirst)
    let journal = Journal()
    let subscription = hub.subscribe(from: .live, on: .sender) { journal.record($0.event ?? 0) }
    #expect(journal.entries == [1, 2, 3])
    subscription.cancel()
    let (other, otherSource) = self.source(.retaining, isFirst: isFirst)
    let sequence = other.events(from: .live)
    (source.value, otherSource.value) = (nil, nil)
    other.finish()
    var events: [Int?] = []
    for await element in sequence { events.append(element.event) }
    #expect(events == [1, 2, 3])
  }

  @Test("after the replay, and a flush in the hook does not wait for what has not begun")
  func replayAndFlush() async {
    let source = Holder<EventHub<Int>>(nil)
    let flushed = Counter()
    let hub = EventHub<Int>(
      initialValue: 1,
      onFirstSubscriber: {
        source.value?.send(2)
        if source.value?.flush(timeout: .seconds(1_000_000)) == true { flushed.add() }
      })
    source.value = hub
    let journal = Journal()
    let subscription = hub.subscribe(on: .global()) { journal.record($0) }
    source.value = nil
    await hub.flush()
    #expect(flushed.value == 1)
    #expect(journal.entries == [1, 2])
    subscription.cancel()
  }

  @Test("to a sequence, and a flush in the hook does not wait for it", arguments: Kind.allCases)
  func flushBesideNewSequence(_ kind: Kind) async {
    let source = Holder<EventHub<Int>>(nil)
    let flushed = Counter()
    let hub = kind.hub(onFirst: {
      source.value?.send(1)
      // The thread that would iterate is this one.
      if source.value?.flush(timeout: .seconds(10)) == true { flushed.add() }
    })
    source.value = hub
    let sequence = hub.events()
    #expect(flushed.value == 1)
    source.value = nil
    hub.finish()
    var events: [Int] = []
    for await event in sequence { events.append(event) }
    #expect(events == [1])
  }

  @Test("by a sequence that the hub multicasts, from its first element on")
  func sequences() async {
    // The first iteration has its elements at once, and its task runs on another thread.
    for _ in 0..<100 {
      let (stream, continuation) = AsyncStream<Int>.makeStream()
      for event in 1...3 { continuation.yield(event) }
      continuation.finish()
      let hub = stream.multicast(replay: 1)
      var events: [Int] = []
      for await event in hub.events() { events.append(event) }
      guard events == [1, 2, 3] else {
        Issue.record("\(events)")
        return
      }
    }
  }
}
