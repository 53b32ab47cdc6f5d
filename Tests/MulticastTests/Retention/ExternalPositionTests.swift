import MulticastTestSupport
import Testing

@testable import Multicast

@Suite(
  "A subscriber may come before its hub, or be ahead of it: it misses nothing that the log has")
struct ExternalPositionTests: ExternalLogSuite {
  @Test("a hub that begins late gives what came before its beginning from the log")
  func lateHub() async {
    let broker = Broker()
    for number in 1...5 { await broker.append(number, to: "a", UInt64(number)) }
    let (hub, writer) = make(broker)
    writer.begin(epoch: 7, after: 5)
    let sequence = hub.events(for: "a", from: .after(at(2), atMost: 9))
    hub.finish()
    #expect(await texts(sequence) == ["a 3 @3", "a 4 @4", "a 5 @5"])
  }

  @Test("a log that answers late: the client receives every event since its subscription began")
  func lateAnswer() async {
    let (asked, answer) = (AsyncGate(), AsyncGate())
    struct Slow: ExternalLog {
      let asked: AsyncGate
      let answer: AsyncGate
      func page(
        of topics: [String], after position: EventPosition, through last: UInt64
      ) async -> ExternalPage<Int>? { nil }
      func contains(_ position: EventPosition) async -> Bool? {
        asked.open()
        await answer.wait()
        return position.number < 9
      }
    }
    var given: ExternalLogWriter<Int>?
    let hub = Hub(retention: .last(100)) { writer in
      given = writer
      return Slow(asked: asked, answer: answer)
    }
    let writer = given!
    writer.begin(epoch: 7, after: 0)
    writer.deliver(1, to: "a", number: 1)
    let (wrong, right) = (
      hub.events(for: "a", from: .after(at(9))), hub.events(for: "a", from: .after(at(3)))
    )
    let received = [Task { await texts(wrong) }, Task { await texts(right) }]
    await asked.wait()
    for number in 2...4 { writer.deliver(number, to: "a", number: UInt64(number)) }
    hub.finish()
    answer.open()
    #expect(await received[0].value == ["missed ? 7:9-7:1", "a 2 @2", "a 3 @3", "a 4 @4"])
    #expect(await received[1].value == ["a 4 @4"])
  }

  @Test("subscribers may come before the log has begun: they receive what they missed from the log")
  func beforeTheBeginning() async {
    let broker = Broker()
    for number in 1...5 { await broker.append(number, to: "a", UInt64(number)) }
    let (hub, writer) = make(broker)
    let live = hub.events(for: "a", from: .live)
    let all = hub.events(for: "a", from: .retained)
    let missing = hub.events(for: "a", from: .after(at(3)))
    let complete = hub.events(for: "a", from: .after(at(5)))
    let unnamed = hub.events(for: "a", from: .after(at(4, epoch: 0)))
    let foreign = hub.events(for: "a", from: .after(at(4, epoch: 6)))
    let wrong = hub.events(for: "a", from: .after(at(9)))
    let waiting = Task {
      var iterator = live.makeAsyncIterator()
      return await iterator.next()
    }
    writer.begin(epoch: 7, after: 5)
    await broker.append(6, to: "a", 6)
    writer.deliver(6, to: "a", number: 6)
    hub.finish()
    #expect(await waiting.value.map(text) == "a 6 @6")
    #expect(await texts(all) == ["a 6 @6"])
    #expect(await texts(missing) == ["a 4 @4", "a 5 @5", "a 6 @6"])
    #expect(await texts(complete) == ["a 6 @6"])
    #expect(await texts(unnamed) == ["a 5 @5", "a 6 @6"])
    #expect(await texts(foreign) == ["missed ? 6:4-7:5", "a 6 @6"])
    #expect(await texts(wrong) == ["missed ? 7:9-7:5", "a 6 @6"])
  }

  @Test("a client that is ahead, because another server was faster, receives no event twice")
  func ahead() async {
    let broker = Broker()
    for number in 1...6 { await broker.append(number, to: "a", UInt64(number)) }
    let (hub, writer) = make(broker)
    writer.begin(epoch: 7, after: 0)
    writer.deliver(1, to: "a", number: 1)
    let sequence = hub.events(for: "a", from: .after(at(4)))
    let received = Task { await texts(sequence) }
    for number in 2...6 { writer.deliver(number, to: "a", number: UInt64(number)) }
    hub.finish()
    #expect(await received.value == ["a 5 @5", "a 6 @6"])
    #expect(await broker.requests.isEmpty)
  }

  @Test("a client that is ahead misses of a gap only what it does not have")
  func aheadOfAGap() async {
    let broker = Broker()
    await broker.append(7, to: "a", 7)
    let (hub, writer) = make(broker)
    writer.begin(epoch: 7, after: 0)
    let sequence = hub.events(for: "a", from: .after(at(7)))
    writer.skip(through: 5)
    writer.skip(through: 9)
    writer.deliver(10, to: "a", number: 10)
    hub.finish()
    #expect(await texts(sequence) == ["missed ? 7:7-7:9", "a 10 @10"])
  }

  @Test("a position without an event is refused, and the client receives what is new")
  func wrongPosition() async {
    let broker = Broker()
    await broker.append(1, to: "a", 1)
    let (hub, writer) = make(broker)
    writer.begin(epoch: 7, after: 0)
    writer.deliver(1, to: "a", number: 1)
    var iterator = hub.events(for: "a", from: .after(at(9))).makeAsyncIterator()
    #expect(await iterator.next().map(text) == "missed ? 7:9-7:1")
    writer.deliver(2, to: "a", number: 2)
    #expect(await iterator.next().map(text) == "a 2 @2")
    hub.finish()
  }

  @Test("while the log cannot be reached, a position is accepted until the log refuses it")
  func claims() async {
    let broker = Broker()
    await broker.setReachable(false)
    let (hub, writer) = make(broker)
    writer.begin(epoch: 7, after: 0)
    writer.deliver(1, to: "a", number: 1)
    let right = hub.events(for: "a", from: .after(at(3)))
    let received = Task { await texts(right) }
    var wrong = hub.events(for: "a", from: .after(at(4))).makeAsyncIterator()
    writer.refusePositions(after: 3, namedBefore: writer.markPositions())
    #expect(await wrong.next().map(text) == "missed ? 7:4-7:1")
    // Named after the refusal: another server may have got so far since.
    let later = hub.events(for: "a", from: .after(at(4)))
    // A later statement that there are more events does not undo the first.
    writer.refusePositions(after: 9, namedBefore: writer.markPositions())
    for number in 2...4 { writer.deliver(number, to: "a", number: UInt64(number)) }
    hub.finish()
    #expect(await received.value == ["a 4 @4"])
    #expect(await texts(later) == [])
    for number in 2...4 { #expect(await wrong.next().map(text) == "a \(number) @\(number)") }
  }

  @Test("a refusal stays, however often the log refuses others before the subscriber reads")
  func manyRefusals() async {
    let broker = Broker()
    await broker.setReachable(false)
    let (hub, writer) = make(broker)
    writer.begin(epoch: 7, after: 0)
    writer.deliver(1, to: "a", number: 1)
    let reader = hub.reader(for: ["a"], from: .after(at(4))) {}
    writer.refusePositions(after: 3, namedBefore: writer.markPositions())
    for _ in 0..<1000 { writer.refusePositions(after: 9, namedBefore: writer.markPositions()) }
    #expect(await readAnswers(reader) == ["missed ? 7:4-7:1"])
  }

  @Test("a refusal is for the positions that were named before its mark")
  func marks() async {
    let broker = Broker()
    await broker.setReachable(false)
    let (hub, writer) = make(broker)
    writer.begin(epoch: 7, after: 0)
    writer.deliver(1, to: "a", number: 1)
    var before = hub.events(for: "a", from: .after(at(3))).makeAsyncIterator()
    let first = writer.markPositions()
    // Another process added events 2 and 3 after the log was asked for its newest one.
    let between = hub.events(for: "a", from: .after(at(3)))
    let received = Task { await texts(between) }
    let second = writer.markPositions()
    writer.refusePositions(after: 1, namedBefore: first)
    #expect(await before.next().map(text) == "missed ? 7:3-7:1")
    // A mark counts by when it was set, not by when it is used.
    writer.refusePositions(after: 3, namedBefore: second)
    writer.refusePositions(after: 2, namedBefore: first)
    for number in 2...4 { writer.deliver(number, to: "a", number: UInt64(number)) }
    hub.finish()
    #expect(await received.value == ["a 4 @4"])
    for number in 2...4 { #expect(await before.next().map(text) == "a \(number) @\(number)") }
  }

  @Test("a mark of another writer is refused")
  func markOfAnotherWriter() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      var writers: [ExternalLogWriter<Int>] = []
      let hubs = (0..<2).map { _ in
        TopicHub<String, Int>(retention: .last(9)) { writer in
          writers.append(writer)
          return GatedLog.unreachable
        }
      }
      writers[0].refusePositions(after: 1, namedBefore: writers[1].markPositions())
      withExtendedLifetime(hubs) {}
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains("the mark is of another writer; use one of markPositions() of this"))
  }

  @Test("the same epoch begins again only after what the hub has received of it")
  func sameEpoch() async {
    let (hub, writer) = make(Broker())
    writer.begin(epoch: 7, after: 0)
    writer.deliver(1, to: "a", number: 1)
    let reader = hub.reader(for: ["a"], from: .after(at(0))) {}
    writer.begin(epoch: 7, after: 1)
    writer.deliver(2, to: "a", number: 2)
    #expect(read(reader) == ["missed ? 7:0-7:1", "a 2 @2"])
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      var given: ExternalLogWriter<Int>?
      let hub = TopicHub<String, Int>(retention: .last(9), name: "rooms") { writer in
        given = writer
        return GatedLog.unreachable
      }
      given?.begin(epoch: 7, after: 0)
      for number in 1...5 { given?.deliver(number, to: "a", number: UInt64(number)) }
      given?.begin(epoch: 7, after: 4)
      withExtendedLifetime(hub) {}
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains("in the hub \"rooms\": an external log begins anew after 4, but"))
    #expect(message.contains("events up to 5 in the same epoch; use another epoch"))
  }

  @Test("the same epoch begins again: a client that has come as far, or is ahead, misses nothing")
  func sameEpochAgain() async {
    for readsBetween in [false, true] {
      let broker = Broker()
      for number in 1...5 { await broker.append(number, to: "a", UInt64(number)) }
      let (hub, writer) = make(broker)
      writer.begin(epoch: 7, after: 0)
      writer.deliver(1, to: "a", number: 1)
      let current = hub.reader(for: ["a"], from: .after(at(1))) {}
      let ahead = hub.reader(for: ["a"], from: .after(at(4))) {}
      #expect(await readAnswers(ahead) == [] && read(current) == [])
      writer.begin(epoch: 7, after: 1)
      if readsBetween { #expect(read(ahead) == [] && read(current) == []) }
      for number in 2...5 { writer.deliver(number, to: "a", number: UInt64(number)) }
      #expect(read(current) == ["a 2 @2", "a 3 @3", "a 4 @4", "a 5 @5"])
      #expect(read(ahead) == ["a 5 @5"])
      withExtendedLifetime(hub) {}
    }
  }

  @Test("a refusal counts, also if the log has come as far before it is asked")
  func refusedBeforeTheQuestion() async {
    let broker = Broker()
    let (hub, writer) = make(broker)
    writer.begin(epoch: 7, after: 0)
    await broker.append(1, to: "a", 1)
    writer.deliver(1, to: "a", number: 1)
    let sequence = hub.events(for: "a", from: .after(at(3)))
    writer.refusePositions(after: 1, namedBefore: writer.markPositions())
    for number in 2...4 {
      await broker.append(number, to: "a", UInt64(number))
      writer.deliver(number, to: "a", number: UInt64(number))
    }
    hub.finish()
    #expect(await texts(sequence) == ["missed ? 7:3-7:1", "a 2 @2", "a 3 @3", "a 4 @4"])
  }

  @Test("a log that begins twice before its first subscribers read: they miss what came between")
  func twoBeginnings() async {
    let broker = Broker()
    let (hub, writer) = make(broker)
    let live = hub.reader(for: ["a"], from: .live) {}
    let unnamed = hub.reader(for: ["a"], from: .after(at(4, epoch: 0))) {}
    writer.begin(epoch: 7, after: 5)
    writer.deliver(6, to: "a", number: 6)
    writer.begin(epoch: 8, after: 2)
    writer.deliver(3, to: "a", number: 3)
    #expect(await readAnswers(live) == ["missed ? 7:5-8:2", "a 3 @3"])
    #expect(await readAnswers(unnamed) == ["missed ? 7:4-8:2", "a 3 @3"])
    withExtendedLifetime(hub) {}
  }

  @Test("a client that is ahead before the log has begun misses only what comes after its place")
  func aheadOfTheBeginning() async {
    let broker = Broker()
    for number in 1...8 { await broker.append(number, to: "a", UInt64(number)) }
    let (hub, writer) = make(broker, keeping: 1)
    let slow = hub.reader(
      for: ["a"], from: .after(at(3)), buffering: .bounded(2, whenFull: .dropOldest)
    ) {}
    writer.begin(epoch: 7, after: 0)
    for number in 1...8 { writer.deliver(number, to: "a", number: UInt64(number)) }
    let missed = MissedEvents(after: at(3), through: at(7), count: 4)
    #expect(await nextAnswer(slow) == .missed(missed, of: "a"))
    #expect(read(slow) == ["a 8 @8"] && hub.droppedEvents == 4)
  }

  @Test("a client that returns to the beginning misses what came since, also before its place")
  func backAtTheBeginning() async {
    let broker = Broker()
    let numbers = [1, 2, 4, 5, 6, 7, 8]  // The log has no 3.
    for number in numbers { await broker.append(number, to: "a", UInt64(number)) }
    let (hub, writer) = make(broker, keeping: 1)
    let slow = hub.reader(
      for: ["a"], from: .after(at(3)), buffering: .bounded(2, whenFull: .dropOldest)
    ) {}
    writer.begin(epoch: 7, after: 0)
    for number in numbers { writer.deliver(number, to: "a", number: UInt64(number)) }
    // So whether it has one is unknown.
    await broker.setReachable(false)
    #expect(
      await nextAnswer(slow)
        == .missed(MissedEvents(after: at(3), through: at(0), count: nil), of: nil))
    #expect(
      await nextAnswer(slow)
        == .missed(MissedEvents(after: at(0), through: at(7), count: 6), of: "a"))
    #expect(read(slow) == ["a 8 @8"] && hub.droppedEvents == 6)
  }

  @Test("a position of an epoch that the hub has not reached is missed, and its events come again")
  func laterEpoch() async {
    let (hub, writer) = make(Broker())
    writer.begin(epoch: 7, after: 0)
    writer.deliver(1, to: "a", number: 1)
    // The client comes from a hub that knows of the new beginning.
    let reader = hub.reader(for: ["a"], from: .after(at(2, epoch: 8)), whenReadable: {})
    #expect(read(reader) == ["missed ? 8:2-7:0", "a 1 @1"])
    writer.begin(epoch: 8, after: 0)
    for number in 1...3 { writer.deliver(number, to: "a", number: UInt64(number)) }
    #expect(await readAnswers(reader) == ["missed ? 7:1-8:0", "a 1 @1", "a 2 @2", "a 3 @3"])
  }
}
