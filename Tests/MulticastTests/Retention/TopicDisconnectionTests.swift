import MulticastTestSupport
import Testing

@testable import Multicast

@Suite("A disconnected subscriber with positions gets what waited, and nothing behind a gap")
struct TopicDisconnectionTests: ExternalLogSuite {
  private let limit = BufferingPolicy<Int>.bounded(100, whenFull: .disconnect)

  /// Reads one event after the other.
  private func take(_ count: Int, _ reader: TopicReader<Int>) -> [Int?] {
    (0..<count).map { _ in reader.nextIfAvailable()?.event?.event }
  }

  @Test("all that waited, in several reads, also if more comes meanwhile")
  func severalReads() {
    let hub = Hub(retention: .last(400))
    let reader = hub.reader(for: ["a"], from: .live, buffering: limit) {}
    for event in 1...101 { hub.send(event, to: "a") }
    #expect(take(64, reader) == Array(1...64))
    #expect(hub.statistics(for: "a")?.pending == 36 && hub.droppedEvents == 1)
    for event in 102...400 { hub.send(event, to: "a") }
    #expect(hub.statistics(for: "a")?.pending == 36 && hub.droppedEvents == 1)
    #expect(take(36, reader) == Array(65...100))
    #expect(reader.nextIfAvailable() == nil && reader.end == .disconnected)
    #expect(hub.droppedEvents == 1)
  }

  @Test("nothing more, if some of what waited leaves between two reads", arguments: [64, 100])
  func leavesBetweenReads(kept: Int) {
    let hub = Hub(retention: .last(200))
    let reader = hub.reader(for: ["a"], from: .live, buffering: limit) {}
    for event in 1...101 { hub.send(event, to: "a") }
    #expect(take(64, reader) == Array(1...64))
    // The first that waits is among those that leave.
    for event in 102...200 + kept + 1 { hub.send(event, to: "a") }
    #expect(hub.statistics(for: "a")?.pending == 0 && hub.droppedEvents == 37)
    #expect(reader.nextIfAvailable() == nil && reader.end == .disconnected)
    #expect(hub.droppedEvents == 37)
  }

  @Test("nothing more, if events of another topic remove all that waited")
  func leavesForAnotherTopic() {
    let hub = Hub(retention: .last(200), total: .last(110))
    let reader = hub.reader(for: ["a"], from: .live, buffering: limit) {}
    for event in 1...101 { hub.send(event, to: "a") }
    #expect(take(64, reader) == Array(1...64))
    for event in 1...110 { hub.send(event, to: "b") }
    #expect(reader.nextIfAvailable() == nil && reader.end == .disconnected)
    for event in 102...140 { hub.send(event, to: "a") }
    #expect(reader.nextIfAvailable() == nil && hub.droppedEvents == 37)
  }

  @Test("a sequence, whose reads are longer, ends there too")
  func sequence() async {
    let hub = Hub(retention: .last(400))
    var events = hub.events(
      for: "a", from: .live, buffering: .bounded(300, whenFull: .disconnect)
    ).makeAsyncIterator()
    for event in 1...301 { hub.send(event, to: "a") }
    for event in 1...256 { #expect(await events.next()?.event?.event == event) }
    for event in 302...701 { hub.send(event, to: "a") }
    #expect(await events.next() == nil)
    #expect(events.end == .disconnected && hub.droppedEvents == 45)
  }

  @Test("of several topics, those count as dropped that came too late")
  func severalTopics() {
    let hub = Hub(retention: .last(400), epoch: 7)
    let reader = hub.reader(
      for: ["a", "b", "c"], from: .live, buffering: .bounded(2, whenFull: .disconnect)
    ) {}
    for topic in ["a", "b", "b", "c"] { hub.send(1, to: topic) }
    func dropped() -> [Int?] { ["a", "b", "c"].map { hub.statistics(for: $0)?.dropped } }
    #expect(dropped() == [0, 1, 1])
    #expect(read(reader) == ["a 1 @1", "b 1 @2"])
    #expect(dropped() == [0, 1, 1] && hub.droppedEvents == 2)
    #expect(reader.end == .disconnected)
  }

  @Test("what it had missed before is not counted as delivered")
  func missedBefore() {
    let hub = Hub(retention: .last(3), epoch: 7)
    let reader = hub.reader(
      for: ["a", "b"], from: .live, buffering: .bounded(5, whenFull: .disconnect)
    ) {}
    for event in 1...5 { hub.send(event, to: "a") }
    #expect(read(reader) == ["missed a 7:0-7:2", "a 3 @3", "a 4 @4", "a 5 @5"])
    for event in 6...11 { hub.send(event, to: event % 2 == 0 ? "a" : "b") }
    #expect(reader.nextIfAvailable()?.event?.event == 6)
    let counts = hub.snapshot.receivers.compactMap(\.statistics)
    #expect(counts.map(\.delivered).reduce(0, +) == 8)
    #expect(counts.map(\.dropped).reduce(0, +) == 3)
    #expect(counts.map(\.enqueued).reduce(0, +) == 11)
  }

  @Test("nothing of another beginning of the numbers, which it gets as missed")
  func anotherBeginning() {
    let (hub, writer) = make(Broker(), keeping: 400)
    writer.begin(epoch: 1, after: 0)
    let reader = hub.reader(for: ["a"], from: .live, buffering: limit) {}
    for number in 1...101 { writer.deliver(number, to: "a", number: UInt64(number)) }
    #expect(take(64, reader) == Array(1...64))
    writer.begin(epoch: 2, after: 0)
    for number in 1...200 { writer.deliver(number, to: "a", number: UInt64(number)) }
    #expect(read(reader) == ["missed ? 1:64-2:0"])
    #expect(reader.end == .disconnected)
  }
}
