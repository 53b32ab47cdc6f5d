import Testing

@testable import Multicast

@Suite("A reader of topics knows its place, and another one can continue there")
struct TopicReaderPositionTests: ExternalLogSuite {
  @Test("the position of a reader is how far it has read, whatever topic the newest event has")
  func position() {
    let hub = Hub(retention: .last(100), epoch: 7)
    hub.send(1, to: "a")
    hub.send(2, to: "a")
    hub.send(3, to: "b")
    let reader = hub.reader(for: ["a"], from: .retained) {}
    #expect(reader.position == at(0))
    #expect(reader.nextIfAvailable() != nil && reader.position == nil)
    #expect(reader.nextIfAvailable() != nil && reader.position == at(3))
    hub.send(4, to: "b")
    #expect(reader.position == at(3))
    #expect(read(reader) == [] && reader.position == at(3))
    hub.send(5, to: "a")
    #expect(read(reader) == ["a 5 @5"] && reader.position == at(5))
  }

  @Test("there is no position before the external log begins, or answers")
  func externalPosition() async {
    let broker = Broker()
    let (hub, writer) = make(broker)
    let early = hub.reader(for: ["a"], from: .live) {}
    #expect(read(early) == [] && early.position == nil)
    writer.begin(epoch: 7, after: 10)
    #expect(read(early) == [] && early.position == at(10))
    let (told, tell) = AsyncStream.makeStream(of: Void.self)
    let claiming = hub.reader(for: ["a"], from: .after(at(15))) { tell.yield() }
    #expect(claiming.position == nil)
    var notices = told.makeAsyncIterator()
    var texts = read(claiming)
    while texts.isEmpty {
      #expect(claiming.position == nil)
      await notices.next()
      texts = read(claiming)
    }
    #expect(texts == ["missed ? 7:15-7:10"] && claiming.position == at(10))
  }

  @Test("a position that the log has reached meanwhile counts, whatever the external log says")
  func claimReached() async {
    let (gate, open) = AsyncStream.makeStream(of: Void.self)
    let (hub, writer) = make(GatedLog(gate: gate, isThere: false))
    writer.begin(epoch: 7, after: 0)
    let (told, tell) = AsyncStream.makeStream(of: Void.self)
    let reader = hub.reader(for: ["a"], from: .after(at(2))) { tell.yield() }
    #expect(read(reader) == [] && reader.position == nil)
    for number in 1...3 { writer.deliver(number, to: "a", number: UInt64(number)) }
    open.finish()
    var notices = told.makeAsyncIterator()
    var texts = read(reader)
    while texts.isEmpty {
      await notices.next()
      texts = read(reader)
    }
    #expect(texts == ["a 3 @3"] && reader.position == at(3))
  }

  @Test("there is no position after a cancellation, which discards what was read")
  func cancelled() {
    let hub = Hub(retention: .last(100), epoch: 7)
    let reader = hub.reader(for: ["a"], from: .live) {}
    for number in 1...3 { hub.send(number, to: "a") }
    #expect(reader.nextIfAvailable() != nil)
    reader.cancel()
    #expect(reader.position == nil)
  }

  @Test("what came after the position of a reader that continues waits, and its limit applies")
  func continuing() {
    let hub = Hub(retention: .last(100), epoch: 7)
    hub.send(0, to: "a")
    let common = hub.reader(for: ["a"], from: .live) {}
    #expect(read(common) == [])
    let position = common.position!
    for number in 1...5 { hub.send(number, to: "a") }
    func continued(_ buffering: BufferingPolicy<Int>) -> TopicReader<Int> {
      hub.reader(for: ["a"], continuingAfter: position, buffering: buffering) {}
    }
    #expect(read(continued(.unbounded)) == (1...5).map { "a \($0) @\($0 + 1)" })
    #expect(hub.droppedEvents == 0)
    let oldest = continued(.bounded(2, whenFull: .dropOldest))
    #expect(hub.droppedEvents == 3)
    #expect(read(oldest) == ["missed a 7:1-7:4", "a 4 @5", "a 5 @6"])
    #expect(hub.droppedEvents == 3)
    let disconnected = continued(.bounded(2, whenFull: .disconnect))
    #expect(read(disconnected) == ["a 1 @2", "a 2 @3"] && disconnected.end == .disconnected)
    // What a reader begins with is not limited.
    let beginning = hub.reader(
      for: ["a"], from: .after(position), buffering: .bounded(2, whenFull: .dropOldest)
    ) {}
    #expect(read(beginning).count == 5)
  }

  @Test("a reader that continues behind what is retained is told what is missing, then limited")
  func continuingBehind() {
    let hub = Hub(retention: .last(4), epoch: 7)
    for number in 1...6 { hub.send(number, to: "a") }
    let reader = hub.reader(
      for: ["a"], continuingAfter: at(1), buffering: .bounded(3, whenFull: .dropOldest)
    ) {}
    #expect(read(reader) == ["missed a 7:1-7:2", "a 3 @3", "a 4 @4", "a 5 @5", "a 6 @6"])
    for number in 7...11 { hub.send(number, to: "a") }
    #expect(read(reader) == ["missed a 7:6-7:8", "a 9 @9", "a 10 @10", "a 11 @11"])
  }

  @Test("a reader that continues before a block asks the log for its events", arguments: [100, 2])
  func continuingBeforeABlock(retained: Int) async {
    let broker = Broker()
    let (hub, writer) = make(broker, keeping: retained)
    writer.begin(epoch: 7, after: 0)
    for number in 1...5 as ClosedRange<UInt64> {
      await broker.append(Int(number), to: "a", number)
      if number == 3 { hub.block() }
      writer.deliver(Int(number), to: "a", number: number)
      if number == 3 { hub.unblock() }
    }
    let reader = hub.reader(for: ["a"], continuingAfter: at(1)) {}
    #expect(await readAnswers(reader) == (2...5).map { "a \($0) @\($0)" })
    // A block that has ended before the position is none of its concern.
    let later = hub.reader(for: ["a"], continuingAfter: at(3)) {}
    #expect(read(later) == ["a 4 @4", "a 5 @5"])
  }

  @Test("a position of another epoch is reported, as where a subscription begins")
  func continuingElsewhere() {
    let hub = Hub(retention: .last(4), epoch: 7)
    hub.send(1, to: "a")
    let reader = hub.reader(for: ["a"], continuingAfter: at(3, epoch: 6)) {}
    #expect(read(reader) == ["missed ? 6:3-7:0", "a 1 @1"])
  }
}
