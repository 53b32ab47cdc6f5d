import Dispatch
import MulticastTestSupport
import Testing

@testable import Multicast

@Suite("A handler of topics gets from an external log what the hub does not retain")
struct TopicHandlerLogTests: ExternalLogSuite {
  private func texts(_ received: TopicElements) -> [String] { received.elements.map(text) }

  @Test("what the hub does not retain any more comes from the external log", arguments: [1, 100])
  func pages(limit: Int) async {
    for kind in TopicHandlerKind.all where !kind.hasPatterns {
      let broker = Broker()
      await broker.setPageLimit(limit)
      let (hub, writer) = make(broker, keeping: 2)
      writer.begin(epoch: 7, after: 0)
      for number in 1...200 {
        await broker.append(number, to: "a", UInt64(number))
        writer.deliver(number, to: "a", number: UInt64(number))
      }
      let received = TopicElements()
      let following = await hub.follow(kind, ["a"], from: .after(at(1))) { received.receive($0) }
      await eventually { received.count == 199 }
      await broker.append(201, to: "a", 201)
      writer.deliver(201, to: "a", number: 201)
      hub.finish()
      await eventually { !following.subscription.isActive }
      #expect(received.numbers == Array(2...201))
    }
  }

  @Test("it ends after the answer of the log, if the hub finishes before")
  func finishBeforeTheAnswer() async {
    let log = SlowLog()
    let (hub, writer) = make(log, keeping: 1)
    writer.begin(epoch: 7, after: 0)
    for number in 1...3 { writer.deliver(number, to: "a", number: UInt64(number)) }
    let received = TopicElements()
    let subscription = hub.subscribe(to: ["a"], from: .after(at(1)), on: .global()) {
      received.receive($0)
    }
    await log.asked.wait()
    hub.finish()
    // A flush does not wait for the log.
    await hub.flush()
    #expect(received.count == 0 && subscription.isActive)
    log.mayAnswer.open()
    await eventually { !subscription.isActive }
    #expect(texts(received) == ["a 2 @2", "a 3 @3"])
  }

  @Test("an event that comes while the log is asked is received after the answer")
  func eventBeforeTheAnswer() async {
    let log = SlowLog()
    let (hub, writer) = make(log, keeping: 2)
    writer.begin(epoch: 7, after: 0)
    for number in 1...4 { writer.deliver(number, to: "a", number: UInt64(number)) }
    let received = TopicElements()
    let subscription = hub.subscribe(to: ["a"], from: .after(at(1)), on: .global()) {
      received.receive($0)
    }
    await log.asked.wait()
    writer.deliver(5, to: "a", number: 5)
    await hub.flush()
    log.mayAnswer.open()
    await eventually { received.count >= 4 }
    await hub.flush()
    #expect(received.numbers == [2, 3, 4, 5])
    withExtendedLifetime(subscription) {}
  }

  @Test("a log that begins anew while a handler reads", .timeLimit(.minutes(10)))
  func newBeginning() async {
    for kind in TopicHandlerKind.all {
      let (hub, writer) = make(Broker(), keeping: 1_000)
      writer.begin(epoch: 7, after: 0)
      for number in 1...100 { writer.deliver(number, to: "a", number: UInt64(number)) }
      let received = TopicElements()
      let following = await hub.follow(kind, ["a"], from: .retained) { element in
        received.receive(element)
        if received.count == 1 { writer.begin(epoch: 8, after: 0) }
      }
      await hub.flush()
      writer.deliver(1, to: "a", number: 1)
      await hub.flush()
      #expect(texts(received).suffix(2) == ["missed ? 7:64-8:0", "a 1 @1"])
      following.cancel()
    }
  }

  @Test("a log that begins anew while a sequence with many events reads", .timeLimit(.minutes(10)))
  func newBeginningOfASequence() async {
    let (hub, writer) = make(Broker(), keeping: 1_000)
    writer.begin(epoch: 7, after: 0)
    for number in 1...600 { writer.deliver(number, to: "a", number: UInt64(number)) }
    var iterator = hub.events(for: "a", from: .retained).makeAsyncIterator()
    #expect(await iterator.next().map(text) == "a 1 @1")
    writer.begin(epoch: 8, after: 0)
    writer.deliver(1, to: "a", number: 1)
    var last: PositionedTopicEvent<Int>?
    while let element = await iterator.next() {
      last = element
      if text(element) == "a 1 @1" { hub.finish() }
    }
    #expect(last.map(text) == "a 1 @1")
  }

  @Test("it asks the log for what it misses before it ends")
  func asksBeforeTheEnd() async {
    let log = SlowLog()
    let (hub, writer) = make(log, keeping: 1)
    writer.begin(epoch: 7, after: 0)
    let (started, mayContinue) = (Gate("it is called"), Gate("it may continue"))
    let received = TopicElements()
    let queue = DispatchQueue(label: "handler")
    let subscription = hub.subscribe(to: ["a"], from: .live, on: queue) { element in
      received.receive(element)
      started.open()
      mayContinue.wait()
    }
    for number in 1...5 {
      writer.deliver(number, to: "a", number: UInt64(number))
      if number == 1 { started.wait() }
    }
    hub.finish()
    mayContinue.open()
    await log.asked.wait()
    // The handler has left its queue: the answer comes later than what it does after asking.
    await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    #expect(subscription.isActive)
    log.mayAnswer.open()
    await eventually { !subscription.isActive }
    #expect(received.numbers == [1, 2, 3, 4, 5])
  }

  @Test("a position that the log refuses is reported")
  func refusedPosition() async {
    let broker = Broker()
    let (hub, writer) = make(broker, keeping: 5)
    writer.begin(epoch: 7, after: 0)
    await broker.append(1, to: "a", 1)
    writer.deliver(1, to: "a", number: 1)
    let received = TopicElements()
    let subscription = hub.subscribe(to: ["a"], from: .after(at(50)), on: .global()) {
      received.receive($0)
    }
    await eventually { received.count == 1 }
    #expect(texts(received) == ["missed ? 7:50-7:1"])
    withExtendedLifetime(subscription) {}
  }

  @Test("a cancellation while the log is asked ends the question")
  func cancelWhileAsked() async {
    let log = SlowLog()
    let (hub, writer) = make(log, keeping: 1)
    writer.begin(epoch: 7, after: 0)
    for number in 1...3 { writer.deliver(number, to: "a", number: UInt64(number)) }
    let received = TopicElements()
    let subscription = hub.subscribe(to: ["a"], from: .after(at(1)), on: .global()) {
      received.receive($0)
    }
    await log.asked.wait()
    await subscription.cancelAndWait()
    await log.wasCancelled.wait()
    #expect(received.count == 0 && hub.topicCount == 0)
  }

  /// Answers with one event of each number of the range when a gate opens, or its task is
  /// cancelled.
  private struct SlowLog: ExternalLog {
    let asked = AsyncGate()
    let mayAnswer = AsyncGate()
    let wasCancelled = AsyncGate()

    func page(
      of topics: [String], after position: EventPosition, through last: UInt64
    ) async -> ExternalPage<Int>? {
      asked.open()
      await withTaskCancellationHandler {
        await mayAnswer.wait()
      } onCancel: {
        wasCancelled.open()
        mayAnswer.open()
      }
      let elements = (position.number + 1...last).map {
        ExternalPage<Int>.Element(topic: topics[0], event: Int($0), number: $0)
      }
      return ExternalPage(elements, through: last)
    }

    func contains(_ position: EventPosition) async -> Bool? { true }
  }
}
