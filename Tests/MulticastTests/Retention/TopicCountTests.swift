import Foundation
import MulticastTestSupport
import Testing

@testable import Multicast

@Suite("What a slow subscriber with positions misses is counted, whether or not it reads")
struct TopicCountTests: ExternalLogSuite {
  private func counts(_ hub: Hub) -> DeliveryStatistics? {
    hub.snapshot.receivers.first?.statistics
  }

  @Test("events that have left before they were read", arguments: [nil, 1, 5])
  func unread(limit: Int?) {
    let buffering = limit.map { BufferingPolicy<Int>.bounded($0, whenFull: .dropOldest) }
    let hub = Hub(retention: .last(1))
    let reader = hub.reader(for: ["a"], from: .live, buffering: buffering ?? .unbounded) {}
    for event in 1...10 { hub.send(event, to: "a") }
    #expect(hub.droppedEvents == 9)
    #expect(counts(hub)?.dropped == 9 && counts(hub)?.pending == 1)
    #expect(hub.statistics(for: "a")?.dropped == 9)
    reader.cancel()
    #expect(hub.droppedEvents == 9 && hub.snapshot.dropped == 9)
  }

  @Test("what the subscriber reads afterwards counts once")
  func read() {
    let hub = Hub(retention: .last(1), epoch: 7)
    let reader = hub.reader(for: ["a", "b"], from: .live) {}
    for event in 1...10 { hub.send(event, to: event == 1 ? "b" : "a") }
    #expect(hub.droppedEvents == 8)
    #expect(read(reader) == ["missed a 7:0-7:9", "b 1 @1", "a 10 @10"])
    #expect(hub.droppedEvents == 8)
  }

  @Test("what had left before the subscription began is neither delivered nor dropped")
  func beforeTheStart() {
    let hub = Hub(retention: .last(1), epoch: 7)
    for event in 1...2 { hub.send(event, to: "a") }
    let reader = hub.reader(for: ["a"], from: .after(at(0))) {}
    for event in 3...5 { hub.send(event, to: "a") }
    #expect(read(reader) == ["missed a 7:0-7:4", "a 5 @5"])
    #expect(counts(hub)?.delivered == 1 && counts(hub)?.pending == 0)
    #expect(hub.droppedEvents == 0)
    for event in 6...7 { hub.send(event, to: "a") }
    #expect(hub.droppedEvents == 1)
  }

  @Test("what a new beginning of the log removes is not delivered")
  func newBeginning() {
    let (hub, writer) = make(GatedLog.unreachable)
    writer.begin(epoch: 6, after: 0)
    let reader = hub.reader(for: ["a"], from: .live) {}
    for number in 1...3 { writer.deliver(number, to: "a", number: UInt64(number)) }
    writer.begin(epoch: 7, after: 0)
    writer.deliver(1, to: "a", number: 1)
    #expect(read(reader) == ["missed ? 6:0-7:0", "a 1 @1"])
    #expect(counts(hub)?.delivered == 1)
  }

  @Test(
    "what comes up to a position that the hub has not reached is neither delivered nor missed",
    arguments: [false, true], [false, true])
  func aheadOfTheHub(isUnread: Bool, hasBegun: Bool) async {
    let log = GatedLog(gate: AsyncStream { $0.finish() }, isThere: true)
    let (hub, writer) = make(log, keeping: 2)
    if hasBegun { writer.begin(epoch: 7, after: 2) }
    let reader = hub.reader(
      for: ["a"], from: .after(at(5)), buffering: .bounded(3, whenFull: .dropOldest)
    ) {}
    while reader.core.reader.hasClaim {
      #expect(read(reader) == [])
      await Task.yield()
    }
    if !hasBegun { writer.begin(epoch: 7, after: 2) }
    for number in 3...5 as ClosedRange<UInt64> {
      writer.deliver(Int(number), to: "a", number: number)
      if !isUnread { #expect(read(reader) == [] && counts(hub)?.delivered == 0) }
    }
    for number in 6...9 as ClosedRange<UInt64> {
      writer.deliver(Int(number), to: "a", number: number)
    }
    // Before the first read after the beginning of the log, nothing is counted.
    if hasBegun || !isUnread { #expect(hub.droppedEvents == 2 && counts(hub)?.pending == 2) }
    guard case .missed(let range, of: "a")? = reader.nextIfAvailable() else {
      Issue.record("no range")
      return
    }
    #expect(range == MissedEvents(after: at(5), through: at(7), count: 2))
    #expect(read(reader) == ["a 8 @8", "a 9 @9"])
    #expect(counts(hub)?.delivered == 2 && counts(hub)?.enqueued == 4)
    #expect(hub.droppedEvents == 2)
  }

  @Test("disconnect: a limit above the retention has no effect", arguments: [3, 4, 5, 6, 10])
  func disconnectAboveTheRetention(count: Int) {
    let hub = Hub(retention: .last(3), epoch: 7)
    let reader = hub.reader(
      for: ["a"], from: .live, buffering: .bounded(5, whenFull: .disconnect)
    ) {}
    for event in 1...count { hub.send(event, to: "a") }
    let missed = count == 3 ? [] : ["missed a 7:0-7:\(count - 3)"]
    #expect(read(reader) == missed + (count - 2...count).map { "a \($0) @\($0)" })
    #expect(reader.end == nil && hub.droppedEvents == count - 3)
  }

  @Test("disconnect: a limit of as many as the retention keeps is exceeded by the next one")
  func disconnectAtTheRetention() {
    let hub = Hub(retention: .last(3), epoch: 7)
    let reader = hub.reader(
      for: ["a"], from: .live, buffering: .bounded(3, whenFull: .disconnect)
    ) {}
    for event in 1...4 { hub.send(event, to: "a") }
    #expect(read(reader) == [] && reader.end == .disconnected && hub.droppedEvents == 4)
  }

  @Test("disconnect: as many as the limit may wait, of all topics together", arguments: [6, 5])
  func disconnectOfSeveralTopics(limit: Int) {
    let hub = Hub(retention: .last(3), epoch: 7)
    let reader = hub.reader(
      for: ["a", "b"], from: .live, buffering: .bounded(limit, whenFull: .disconnect)
    ) {}
    for event in 1...13 { hub.send(event, to: event <= 10 ? "a" : "b") }
    guard limit == 6 else {
      #expect(read(reader) == [] && reader.end == .disconnected && hub.droppedEvents == 13)
      return
    }
    let events = (8...13).map { "\($0 <= 10 ? "a" : "b") \($0) @\($0)" }
    #expect(read(reader) == ["missed a 7:0-7:7"] + events)
    #expect(reader.end == nil && hub.droppedEvents == 7)
  }

  @Test("the newest of many topics wait, and the rest is missed", arguments: [1, 7, 100, 999])
  func manyTopics(limit: Int) {
    let hub = TopicHub<String, Int>(retention: .last(1_000))
    let topics = (0..<50).map { "topic \($0)" }
    let buffering = BufferingPolicy<Int>.bounded(limit, whenFull: .dropOldest)
    let reader = hub.reader(for: topics, from: .live, buffering: buffering) {}
    // Of few topics many events come, and of some none.
    for event in 0..<1_000 { hub.send(event, to: topics[event * event % 47]) }
    #expect(hub.droppedEvents == 1_000 - limit)
    #expect(topics.reduce(0) { $0 + (hub.statistics(for: $1)?.pending ?? 0) } == limit)
    var received: [Int] = []
    while let element = reader.nextIfAvailable() {
      if let event = element.event?.event { received.append(event) }
    }
    #expect(received == Array(1_000 - limit..<1_000))
    #expect(hub.droppedEvents == 1_000 - limit)
  }

  @Test("the total of missed events never falls, and is exact, while readers count them")
  func total() {
    let hub = TopicHub<String, Int>(retention: .last(4))
    let topics = (0..<10).map { "topic \($0)" }
    let (events, received, falls, isOver) = (400, Counter(), Counter(), Counter())
    let begin = StartBarrier(2)
    runThreads(3) { thread in
      switch thread {
      case 0:
        begin.arriveAndWait()
        for event in 0..<events { hub.send(event, to: topics[event % topics.count]) }
        isOver.add()
      case 1:
        let buffering = BufferingPolicy<Int>.bounded(2, whenFull: .dropOldest)
        let reader = hub.reader(for: topics, from: .live, buffering: buffering) {}
        begin.arriveAndWait()
        while isOver.value == 0 {
          if reader.nextIfAvailable()?.event != nil { received.add() }
          sched_yield()
        }
        while let element = reader.nextIfAvailable() {
          if element.event != nil { received.add() }
        }
      default:
        var last = 0
        while isOver.value == 0 {
          let total = hub.droppedEvents
          if total < last { falls.add() }
          last = total
          sched_yield()
        }
      }
    }
    #expect(falls.value == 0)
    #expect(hub.droppedEvents == events - received.value)
  }
}
