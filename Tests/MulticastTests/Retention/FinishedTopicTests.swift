import Dispatch
import Multicast
import MulticastTestSupport
import Testing

@Suite("A topic of a hub that retains finishes before its subscribers have received everything")
struct FinishedTopicTests {
  private struct First: Error {}
  private struct Second: Error {}

  /// What the hub has kept of the topic "a".
  private func kept(_ hub: TopicHub<String, Int>) -> [Int] {
    let reader = hub.reader(for: ["a"], from: .retained) {}
    var events: [Int] = []
    while let element = reader.nextIfAvailable() {
      if let event = element.event { events.append(event.event) }
    }
    return events
  }

  @Test(
    "the failure of a handler with positions is that of the first finish", arguments: [false, true])
  func failure(_ fails: Bool) async {
    let hub = TopicHub<String, Int>(retention: .last(10))
    let queue = DispatchQueue(label: "suspended")
    queue.suspend()
    let positioned = hub.subscribe(to: ["a"], from: .live, on: queue) { _ in }
    let plain = hub.subscribe(to: "a", on: queue) { _ in }
    hub.send(1, to: "a")
    if fails { hub.finish("a", throwing: First()) } else { hub.finish("a") }
    hub.finish(throwing: Second())
    queue.resume()
    await eventually { positioned.end != nil && plain.end != nil }
    #expect(fails ? positioned.failure is First : positioned.failure == nil)
    #expect(fails ? plain.failure is First : plain.failure == nil)
  }

  @Test("of several topics that finish with errors, the failure is that of the first named")
  func failures() async {
    for round in 0..<20 {
      let hub = TopicHub<String, Int>(retention: .last(10))
      let names = ["first \(round)", "second \(round)", "third \(round)"]
      let handler = hub.subscribe(to: names + names.reversed(), from: .live, on: .sender) { _ in }
      hub.finish(names[2], throwing: First())
      hub.finish(names[1], throwing: Second())
      #expect(handler.end == nil)
      hub.finish(names[0])
      await eventually { handler.end != nil }
      #expect(handler.end == .finished && handler.failure is Second)
    }
  }

  @Test("a handler that comes after the end of the hub has its failure", arguments: [false, true])
  func failureOfALateHandler(_ hasEvents: Bool) async {
    let hub = TopicHub<String, Int>(retention: .last(10))
    if hasEvents { hub.send(1, to: "a") }
    hub.finish(throwing: First())
    let journal = Journal()
    let late = hub.subscribe(to: ["a"], from: .retained, on: .sender) { element in
      if case .event(let event, _) = element { journal.record(event.event) }
    }
    await eventually { late.end != nil }
    #expect(late.failure is First)
    #expect(journal.entries == (hasEvents ? [1] : []))
  }

  @Test("sendWaiting returns true for an event that is kept, though a subscriber refuses it")
  func refusedByASubscriber() async {
    let hub = TopicHub<String, Int>(retention: .last(10))
    let queue = DispatchQueue(label: "suspended")
    queue.suspend()
    let finishing = hub.subscribe(
      to: "a", on: queue,
      where: { [weak hub] event in
        if event == 2 { hub?.finish("a") }
        return true
      }
    ) { _ in }
    let other = hub.subscribe(to: "a", on: queue) { _ in }
    hub.send(1, to: "a")
    #expect(await hub.sendWaiting(2, to: "a"))
    #expect(kept(hub) == [1, 2])
    queue.resume()
    await eventually { !finishing.isActive && !other.isActive }
  }

  @Test("the same if the hub finishes in the deinit of the event that makes room for it")
  func finishedByAnEvictedEvent() async {
    let hub = TopicHub<String, Last>(retention: .last(1))
    let queue = DispatchQueue(label: "queue")
    let everything = hub.allTopics.subscribe(on: queue) { _ in }
    let subscription = hub.subscribe(to: "a", on: queue) { _ in }
    hub.send(Last(1) { [weak hub] in hub?.finish() }, to: "a")
    await hub.flush()
    queue.suspend()
    hub.send(Last(0), to: "b")
    let isSent = await hub.sendWaiting(Last(2), to: "a")
    let reader = hub.reader(for: ["a"], from: .retained) {}
    var kept: [Int] = []
    while let element = reader.nextIfAvailable() {
      if let event = element.event { kept.append(event.event.number) }
    }
    #expect(isSent)
    #expect(kept == [2])
    queue.resume()
    await eventually { !everything.isActive && !subscription.isActive }
  }
}

/// An event that calls a function in its `deinit`.
private final class Last: Sendable {
  let number: Int
  private let atEnd: @Sendable () -> Void

  init(_ number: Int, atEnd: @escaping @Sendable () -> Void = {}) {
    self.number = number
    self.atEnd = atEnd
  }

  deinit { atEnd() }
}
