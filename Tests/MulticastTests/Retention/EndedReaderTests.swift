import Dispatch
import MulticastTestSupport
import Testing

@testable import Multicast

@Suite(
  "A reader that reads after its topic was finished, and before it learns that, gets no later event"
)
struct EndedReaderTests {
  /// A subscriber with positions whose queue a test can suspend.
  private struct Reader {
    let queue = DispatchQueue(label: "reader")
    let received = Guarded<[Int]>([])
    let subscription: EventSubscription

    init(_ hub: TopicHub<String, Int>, _ topics: [String] = ["t"]) {
      subscription = hub.subscribe(to: topics, from: .live, on: queue) { [received] element in
        if let event = element.event { received.withLock { $0.append(event.event) } }
      }
      queue.sync {}
      queue.suspend()
    }

    /// Returns when it has read everything that is there.
    func readAll() {
      queue.resume()
      queue.sync {}
    }

    func events() async -> [Int] {
      await eventually { subscription.end == .finished }
      queue.sync {}
      return received.withLock { $0 }
    }
  }

  @Test("in a total order, during the call of a handler")
  func handler() async {
    let hub = TopicHub<String, Int>(retention: .last(10), ordering: .total)
    let reader = Reader(hub)
    let handler = hub.subscribe(to: "t", on: .sender) { event in
      guard event == 1 else { return }
      hub.finish("t")  // Left to the delivery that runs.
      hub.send(2, to: "t")
      reader.readAll()
    }
    hub.send(1, to: "t")
    #expect(await reader.events() == [1])
    withExtendedLifetime(handler) {}
  }

  @Test("while an end action of another subscriber runs, which sends to the topic")
  func endAction() async {
    let hub = TopicHub<String, Int>(retention: .last(10))
    let readers = Guarded<Reader?>(nil)
    let action = { @Sendable (_: SubscriptionEnd, _: (any Error)?) in
      hub.send(2, to: "t")
      readers.withLock { $0 }?.readAll()
    }
    let other = hub.subscribe(to: "t", on: .sender, options: [.onEnd(action)]) { _ in }
    let reader = Reader(hub)
    readers.withLock { $0 = reader }
    hub.send(1, to: "t")
    hub.finish("t")
    #expect(await reader.events() == [1])
    withExtendedLifetime(other) {}
  }

  @Test("of several topics, the one that ends last")
  func several() async {
    let hub = TopicHub<String, Int>(retention: .last(10), ordering: .total)
    let reader = Reader(hub, ["t", "u"])
    let handler = hub.subscribe(to: "t", on: .sender) { event in
      guard event == 1 else { return }
      hub.finish("t")  // Left to the delivery that runs.
      hub.send(2, to: "u")
      hub.finish("u")
      for topic in ["t", "u"] { hub.send(3, to: topic) }
      reader.readAll()
    }
    hub.send(1, to: "t")
    #expect(await reader.events() == [1, 2])
    withExtendedLifetime(handler) {}
  }

  @Test(
    "if the subscriptions to its other topic were cancelled, before or afterwards",
    arguments: [true, false])
  func otherIsCancelled(before: Bool) async {
    let hub = TopicHub<String, Int>(retention: .last(10), ordering: .total)
    let reader = Reader(hub, ["t", "u"])
    let handler = hub.subscribe(to: "t", on: .sender) { event in
      guard event == 1 else { return }
      hub.finish("t")  // Left to the delivery that runs.
      if !before { hub.cancelSubscriptions(to: "u") }
      hub.send(2, to: "t")
      reader.readAll()
    }
    if before { hub.cancelSubscriptions(to: "u") }
    hub.send(1, to: "t")
    #expect(await reader.events() == [1])
    withExtendedLifetime(handler) {}
  }

  @Test("nor if another subscriber keeps the topic whose subscriptions were cancelled")
  func racingCancellation() {
    for _ in 0..<1_000 {
      let hub = TopicHub<String, Int>(retention: .last(10))
      let reader = hub.reader(for: ["t", "u"], from: .live) {}
      hub.send(1, to: "t")
      hub.finish("t")
      let barrier = StartBarrier(2)
      let kept = Guarded<EventSubscription?>(nil)
      let subscribing = RunningThread {
        barrier.arriveAndWait()
        let subscription = hub.subscribe(to: "u", on: .sender) { _ in }
        kept.withLock { $0 = subscription }
      }
      barrier.arriveAndWait()
      hub.cancelSubscriptions(to: "u")
      subscribing.join()
      hub.send(2, to: "t")
      hub.send(3, to: "u")
      hub.finish("u")
      #expect(reader.nextIfAvailable()?.event?.event == 1)
      #expect(reader.nextIfAvailable() == nil && reader.end == .finished)
    }
  }

  @Test("nor if later topics of that name were finished meanwhile", arguments: [1, 4, 5, 9])
  func laterTopics(_ count: Int) async {
    let hub = TopicHub<String, Int>(retention: .last(20), ordering: .total)
    let reader = Reader(hub)
    let handler = hub.subscribe(to: "t", on: .sender) { event in
      guard event == 1 else { return }
      hub.finish("t")  // Left to the delivery that runs.
      for event in 2..<2 + count {
        let later = hub.subscribe(to: "t", on: .sender) { _ in }
        hub.send(event, to: "t")
        hub.finish("t")
        withExtendedLifetime(later) {}
      }
    }
    hub.send(1, to: "t")
    reader.queue.resume()
    #expect(await reader.events() == [1])
    withExtendedLifetime(handler) {}
  }

  @Test("nor if it begins while its topic is finished")
  func racingBegin() {
    for _ in 0..<2_000 {
      let hub = TopicHub<String, Int>(retention: .last(10))
      let keeper = hub.subscribe(to: "t", on: .sender) { _ in }
      hub.send(1, to: "t")
      let barrier = StartBarrier(2)
      let finishing = RunningThread {
        barrier.arriveAndWait()
        hub.finish("t")
        hub.send(2, to: "t")
        hub.send(3, to: "t")
      }
      barrier.arriveAndWait()
      let reader = hub.reader(for: ["t"], from: .retained) {}
      finishing.join()
      var events: [Int] = []
      while let element = reader.nextIfAvailable() {
        if let event = element.event { events.append(event.event) }
      }
      // One that has ended began before the end.
      if reader.end == .finished {
        #expect(events == [1])
      } else {
        #expect(events == [1, 2, 3])
      }
      withExtendedLifetime(keeper) {}
    }
  }

  @Test("nor if its place is found after the end of its topic, whose subscription it has already")
  func placedAfterTheEnd() {
    let hub = TopicHub<String, Int>(retention: .last(10))
    let subscription = hub.subscribe(to: "t", on: .sender) { _ in }
    hub.send(1, to: "t")
    hub.finish("t")
    hub.send(2, to: "t")
    let log = hub.requiredRetention.log
    let (cursor, _) = log.cursor(
      .retained, of: .names(["t"]), TopicReadLimit(), isContinued: false,
      reader: ObjectIdentifier(hub), channels: [subscription.registration.registry.extras])
    #expect(log.newestNumber(for: cursor) == 1)
    log.release(cursor)
  }

  @Test("and what came after the end does not count for `last` and `atMost`")
  func countedAfterTheEnd() {
    let hub = TopicHub<String, Int>(retention: .last(10))
    let subscription = hub.subscribe(to: "t", on: .sender) { _ in }
    let before = hub.newestPosition
    for event in 1...3 { hub.send(event, to: "t") }
    hub.finish("t")
    for event in 4...6 { hub.send(event, to: "t") }
    let log = hub.requiredRetention.log
    for (start, number) in [
      (.last(1), 2), (.last(2), 1), (.last(5), 0), (.last(0), 3), (.after(before, atMost: 2), 1),
      (.after(before, atMost: 3), 0), (.after(EventPosition(epoch: 1, number: 0), atMost: 1), 2),
    ] as [(SubscriptionStart, UInt64)] {
      let (cursor, _) = log.cursor(
        start, of: .names(["t"]), TopicReadLimit(), isContinued: false,
        reader: ObjectIdentifier(hub), channels: [subscription.registration.registry.extras])
      #expect(cursor.number == number, "\(start)")
      var items = RingBuffer<TopicItem>()
      var garbage = RetainedLog.Garbage()
      _ = log.read(.names(["t"]), cursor, atMost: 10, into: &items, &garbage)
      let numbers = (0..<items.count).map { items[$0].number }
      #expect(numbers == (number..<3).map { $0 + 1 }, "\(start)")
      log.release(cursor)
    }
  }

  @Test(
    "but everything that was sent before, if the hub is released after one of its topics has ended")
  func releasedHub() async {
    func makeReader() -> Reader {
      let hub = TopicHub<String, Int>(retention: .last(10))
      let reader = Reader(hub, ["t", "u"])
      hub.send(1, to: "t")
      hub.finish("t")
      hub.send(2, to: "u")
      hub.send(3, to: "u")
      return reader
    }
    let reader = makeReader()
    reader.queue.resume()
    #expect(await reader.events() == [1, 2, 3])
  }
}
