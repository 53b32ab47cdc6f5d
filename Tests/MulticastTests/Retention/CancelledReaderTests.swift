import Dispatch
import MulticastTestSupport
import Testing

@testable import Multicast

@Suite("A reader of topics that others end: what it gets, and what it leaves behind")
struct CancelledReaderTests {
  private func events(_ reader: TopicReader<Int>) -> [Int] {
    var events: [Int] = []
    while let element = reader.nextIfAvailable() {
      if let event = element.event { events.append(event.event) }
    }
    return events
  }

  @Test("in a total order it gets nothing that was sent after its topic was finished")
  func sentAfterTheFinish() {
    let hub = TopicHub<String, Int>(retention: .last(10), ordering: .total)
    let reader = hub.reader(for: ["t"], from: .live) {}
    let handler = hub.subscribe(to: "t", on: .sender) { event in
      guard event == 1 else { return }
      hub.send(2, to: "t")
      hub.finish("t")  // Left to the delivery that runs.
      hub.send(3, to: "t")
    }
    hub.send(1, to: "t")
    hub.send(4, to: "t")
    #expect(events(reader) == [1, 2])
    #expect(reader.end == .finished)
    withExtendedLifetime(handler) {}
  }

  @Test("nor what is sent to a later topic of that name, also if that is finished in its turn")
  func finishedAgain() async {
    let hub = TopicHub<String, Int>(retention: .last(10), ordering: .total)
    let reader = hub.reader(for: ["t"], from: .live) {}
    let received = Guarded<[Int]>([])
    let later = Guarded<EventSubscription?>(nil)
    let handler = hub.subscribe(to: "t", on: .sender) { event in
      guard event == 1 else { return }
      hub.finish("t")  // Left to the delivery that runs.
      let subscription = hub.subscribe(to: ["t"], from: .live, on: .global()) { element in
        if let event = element.event { received.withLock { $0.append(event.event) } }
      }
      later.withLock { $0 = subscription }
      hub.send(2, to: "t")
      hub.finish("t")
    }
    hub.send(1, to: "t")
    #expect(events(reader) == [1] && reader.end == .finished)
    await hub.flush()
    #expect(received.withLock { $0 } == [2])
    #expect(later.withLock { $0?.end } == .finished)
    withExtendedLifetime(handler) {}
  }

  @Test("what has left the log has the exact number, also if more has left since the end")
  func missedBeforeTheEnd() {
    let hub = TopicHub<String, Int>(retention: .last(2), ordering: .total)
    let reader = hub.reader(for: ["t"], from: .live) {}
    let handler = hub.subscribe(to: "t", on: .sender) { event in
      guard event == 1 else { return }
      hub.send(2, to: "t")
      hub.finish("t")  // Left to the delivery that runs.
      for later in 3...12 { hub.send(later, to: "t") }
    }
    hub.send(1, to: "t")
    guard case .missed(let range, of: "t") = reader.nextIfAvailable() else {
      Issue.record("an event")
      return
    }
    #expect(range.count == 2 && hub.droppedEvents == 2)
    #expect(reader.nextIfAvailable() == nil && reader.end == .finished)
    withExtendedLifetime(handler) {}
  }

  @Test("of several topics, it gets what was sent until the last of them was finished")
  func severalTopics() {
    let hub = TopicHub<String, Int>(retention: .last(10), ordering: .total)
    let reader = hub.reader(for: ["a", "b"], from: .live) {}
    let handler = hub.subscribe(to: "b", on: .sender) { event in
      guard event == 2 else { return }
      hub.finish("b")
      hub.send(3, to: "a")
    }
    hub.send(1, to: "a")
    hub.send(2, to: "b")
    hub.send(4, to: "b")
    hub.finish("a")
    hub.send(5, to: "a")
    // 4 was sent after the end of "b", but before that of "a".
    #expect(events(reader) == [1, 2, 3, 4])
    #expect(reader.end == .finished)
    withExtendedLifetime(handler) {}
  }

  @Test("events that are sent after its cancellation do not count as missed", arguments: 0..<3)
  func nothingIsMissed(_ kind: Int) {
    let hub = TopicHub<String, Int>(retention: .last(2))
    let reader = hub.reader(for: ["a"], from: .live) {}
    let iterator = hub.events(for: ["a"], from: .live).makeAsyncIterator()
    for event in 1...5 { hub.send(event, to: "a") }
    #expect(hub.droppedEvents == 6)
    switch kind {
    case 0: hub.cancelSubscriptions()
    case 1: hub.cancelSubscriptions(to: "a")
    default: reader.cancel()
    }
    for event in 6...105 { hub.send(event, to: "a") }
    #expect(hub.droppedEvents == (kind == 2 ? 106 : 6))
    #expect(reader.nextIfAvailable() == nil && reader.end == .cancelled)
    withExtendedLifetime(iterator) {}
  }

  @Test("what an end action sends to the topic does not reach it", arguments: [false, true])
  func sentByAnEndAction(_ isFirst: Bool) {
    let hub = TopicHub<String, Int>(retention: .last(10))
    let early = isFirst ? hub.reader(for: ["t"], from: .live) {} : nil
    let sender = hub.subscribe(
      to: "t", on: .sender, options: [.onEnd { _, _ in hub.send(2, to: "t") }]
    ) { _ in }
    let reader = early ?? hub.reader(for: ["t"], from: .live) {}
    hub.send(1, to: "t")
    hub.finish("t")
    #expect(events(reader) == [1] && reader.end == .finished)
    withExtendedLifetime(sender) {}
  }

  @Test("one that has finished counts what it missed once, also if all are cancelled afterwards")
  func cancelledAfterTheEnd() {
    let hub = TopicHub<String, Int>(retention: .last(100))
    let reader = hub.reader(
      for: ["a", "b"], from: .live, buffering: .bounded(2, whenFull: .dropOldest)
    ) {}
    for event in 0..<10 { hub.send(event, to: "a") }
    hub.finish("a")
    hub.cancelSubscriptions(to: "b")
    hub.cancelSubscriptions()
    #expect(events(reader) == [8, 9] && reader.end == .finished)
    #expect(hub.droppedEvents == 8)
  }

  /// A log that is asked, and does not answer.
  private final class SilentLog: ExternalLog {
    let isAsked = Guarded(false)
    let isCancelled = Guarded(false)

    func page(
      of topics: [String], after position: EventPosition, through last: UInt64
    ) async -> ExternalPage<Int>? {
      isAsked.withLock { $0 = true }
      await withTaskCancellationHandler {
        // Not for `Task.isCancelled`, which is true before the handler is called: it would be
        // removed then, and not called any more.
        await eventually { isCancelled.withLock { $0 } }
      } onCancel: {
        isCancelled.withLock { $0 = true }
      }
      return nil
    }

    func contains(_ position: EventPosition) async -> Bool? { nil }
  }

  private func makeHub(_ log: SilentLog) -> (TopicHub<String, Int>, ExternalLogWriter<Int>) {
    var writer: ExternalLogWriter<Int>!
    let hub = TopicHub<String, Int>(retention: .last(2)) {
      writer = $0
      return log
    }
    writer.begin(epoch: 1, after: 0)
    return (hub, writer)
  }

  @Test("the request to an external log is cancelled", arguments: 0..<3)
  func request(_ kind: Int) async {
    let log = SilentLog()
    let (hub, writer) = makeHub(log)
    for event in 1...5 { writer.deliver(event, to: "a", number: UInt64(event)) }
    let reader = hub.reader(for: ["a"], from: .after(EventPosition(epoch: 1, number: 0))) {}
    #expect(reader.nextIfAvailable() == nil)
    await eventually { log.isAsked.withLock { $0 } }
    switch kind {
    case 0: hub.cancelSubscriptions()
    case 1: hub.cancelSubscriptions(to: "a")
    default: reader.cancel()
    }
    #expect(reader.nextIfAvailable() == nil && reader.end == .cancelled)
    await eventually { log.isCancelled.withLock { $0 } }
    withExtendedLifetime(reader) {}
  }

  @Test("one of patterns that is ahead of the log leaves nothing behind")
  func aheadOfTheLog() {
    let (hub, writer) = makeHub(SilentLog())
    let ahead = EventPosition(epoch: 1, number: 1 << 40)
    do {
      let readers = [
        hub.reader(matching: ["a.>"], from: .after(ahead)) {},
        hub.reader(for: ["a"], from: .after(ahead)) {},
      ]
      #expect(hub.requiredRetention.log.aheadReaders.count == readers.count)
    }
    #expect(hub.requiredRetention.log.aheadReaders.isEmpty)
    withExtendedLifetime(writer) {}
  }
}
